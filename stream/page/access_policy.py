"""Who may see the page: this machine, or whoever knows the token.

The page shows names and values of the data. Metrics and health checks hold none, and are for anyone who can
reach the port, as Prometheus and a supervisor expect.
"""

import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple
from urllib.parse import urlsplit

from stream.config.rules import is_loopback

COOKIE = "espalier_token"

PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class AccessPolicy(NamedTuple):
    """What a listener lets in. `page` is None where it is served, or says why it is not."""

    host: str
    token: str | None
    page: str | None = None

    def objection(self, headers: Mapping[str, str], token: str | None = None) -> str | None:
        """Return why a request may not see the page; None: it may.

        Args:
            headers: Those of the request.
            token: The one in its address, if there is one.
        """
        if self.page is not None:
            return self.page
        if self.token is None:
            # A name that leads to this machine may belong to a page from elsewhere (DNS rebinding).
            return None if _names_this_machine(headers.get("Host", "")) else "ask for 127.0.0.1 or localhost"
        if self.knows(token or _given(headers)):
            return None
        return "a token is needed: add ?token=... to the address, or send it as Authorization: Bearer"

    def knows(self, token: str | None) -> bool:
        """Return whether a token is the right one; how long it takes says nothing about it."""
        return (
            self.token is not None
            and token is not None
            and hmac.compare_digest(token.encode(), self.token.encode())
        )


def _names_this_machine(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name is not None and is_loopback(name)


def _given(headers: Mapping[str, str]) -> str | None:
    """Return the token of a request: of a program in a header, of a browser in a cookie."""
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get("Cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
