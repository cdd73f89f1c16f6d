"""docs/metrics.md is what the program prints."""

from click.testing import CliRunner

from stream.cli.main import espalier
from tests.paths import REPOSITORY


def test_the_reference_of_the_metrics_is_current() -> None:
    told = CliRunner().invoke(espalier, ["metrics", "docs"])
    assert told.exit_code == 0
    kept = (REPOSITORY / "docs" / "metrics.md").read_text()
    assert told.output == kept, "run: espalier metrics docs > docs/metrics.md"
