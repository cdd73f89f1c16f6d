"""The image: what is in it, and how it runs."""

import re
import tomllib

from stream.config import parse
from stream.config.environment import variables
from tests.deploy.files import DEPLOY, PORT, dockerfile
from tests.paths import REPOSITORY


def test_the_image_runs_as_nobody_in_particular_with_the_health_check_of_the_worker() -> None:
    told = dockerfile()
    users = [rest for name, rest in told if name == "USER"]
    assert users == ["10001:10001"]
    assert told.index(("USER", users[0])) > max(
        n for n, (name, _) in enumerate(told) if name in ("RUN", "COPY")
    )
    (exposed,) = [rest for name, rest in told if name == "EXPOSE"]
    assert int(exposed) == PORT
    (check,) = [rest for name, rest in told if name == "HEALTHCHECK"]
    assert "/healthz" in check
    assert ("ENTRYPOINT", '["espalier"]') in told
    assert ("CMD", '["worker"]') in told
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert "espalier" in project["scripts"]
    bases = {rest.split()[0] for name, rest in told if name == "FROM"}
    assert bases == {"python:3.11-slim-bookworm"}
    assert project["requires-python"] == ">=3.11"


def test_everything_that_is_copied_into_the_image_is_there_and_is_not_ignored() -> None:
    allowed = {
        line.removeprefix("!")
        for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied: set[str] = set()
    for name, rest in dockerfile():
        if name == "COPY" and "--from" not in rest:
            copied |= {word.removeprefix("./") for word in rest.split()[:-1]}
    assert copied == allowed
    for name in copied:
        assert (REPOSITORY / name).exists(), name


def test_generated_files_do_not_get_into_the_image() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for line in (REPOSITORY / ".gitignore").read_text().splitlines():
        if line.endswith(".c"):
            assert line in ignored, f"{line} would be built into the image as it is here"


def test_the_variables_of_the_image_are_settings() -> None:
    told = " ".join(rest for name, rest in dockerfile() if name == "ENV")
    settings = dict(re.findall(r"(ESPALIER_\w+)=(\S+)", told))
    assert settings["ESPALIER_METRICS_PORT"] == str(PORT)
    assert set(settings) <= set(variables())
    assert parse('[[agent]]\nname="a"\ninput="b"\n', "t", settings)
