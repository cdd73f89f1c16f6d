"""A client of the page's server, for one question at a time."""

import http.client
import json

SECONDS = 45.0


class Said:
    """What a server said to a request."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def told(self) -> object:
        return json.loads(self.body)


def ask(
    address: str, path: str = "", *, method: str = "GET", body: bytes | None = None, **headers: str
) -> Said:
    host = address.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(host, timeout=SECONDS)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/{path}", body, named)
        return Said(connection.getresponse())
    finally:
        connection.close()
