"""Write the dashboards: `python -m deploy.grafana.source [DIRECTORY]`."""

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from deploy.grafana.source.compare import compare
from deploy.grafana.source.health import health
from deploy.grafana.source.learner import learner
from deploy.grafana.source.overview import overview

HERE = Path(__file__).resolve().parent.parent / "dashboards"
MADE = {"overview": overview, "learner": learner, "health": health, "compare": compare}

# What Grafana's annotations from Prometheus say, which the SDK has no words for.
ANNOTATION = {
    "step": "60s",
    "titleFormat": "{{agent}}: {{kind}}",
    "textFormat": "The tree was restructured in this minute.",
    "tagKeys": "agent,kind",
    "useValueForTime": False,
}


def dashboards() -> dict[str, str]:
    """Return the text of every dashboard by its name."""
    told = {}
    for name, make in MADE.items():
        page = json.loads(json.dumps(make().build(), cls=JSONEncoder))
        for number, panel in enumerate(page["panels"]):
            panel["id"] = number + 1
        for annotation in page["annotations"].get("list", []):
            annotation.update(ANNOTATION)
            # Since 12.1 the query is read from here; before, from the annotation itself.
            annotation["target"] = {
                "expr": annotation["expr"],
                "interval": annotation["step"],
                "refId": "Anno",
            }
        for variable in page["templating"]["list"]:
            for only_of_intervals in ("auto", "auto_count", "auto_min"):
                variable.pop(only_of_intervals, None)
        told[name] = json.dumps(page, indent=2, sort_keys=True) + "\n"
    return told


if __name__ == "__main__":
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in dashboards().items():
        (directory / f"{name}.json").write_text(text, "utf-8")
