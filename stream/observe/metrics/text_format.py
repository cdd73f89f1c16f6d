"""The two texts that Prometheus reads, written fast.

The client library checks every name and every label again in every scrape, which for ten thousand series
takes longer than collecting them. Ours do not change: the name and the labels of a series are made into text
once.
"""

from collections.abc import Iterator
from math import inf

from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar, Sample

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
MOST_KEPT = 200_000
"""More series than closed sets can make: whoever comes here has begun to leak."""

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


class TextWriter:
    """Writes what a registry holds, and remembers the names of its series."""

    def __init__(self) -> None:
        self._heads: dict[tuple[str, ...], str] = {}

    def write(self, registry: Collector, *, openmetrics: bool) -> bytes:
        """Return the text of all metrics of this moment."""
        if len(self._heads) > MOST_KEPT:
            self._heads.clear()
        lines: list[str] = []
        for family in registry.collect():
            lines += self._family(family, openmetrics)
        if openmetrics:
            lines.append("# EOF\n")
        return "".join(lines).encode()

    def _family(self, family: Metric, openmetrics: bool) -> Iterator[str]:
        name, kind = family.name, family.type
        if kind == "counter" and not openmetrics:
            name += "_total"
        yield f"# HELP {name} {family.documentation.translate(_ESCAPES if openmetrics else _HELP_ESCAPES)}\n"
        yield f"# TYPE {name} {kind}\n"
        heads = self._heads
        for sample in family.samples:
            key = (sample.name, *sample.labels.values())
            head = heads.get(key)
            if head is None:
                head = heads[key] = _head(sample)
            if openmetrics and sample.exemplar is not None:
                yield f"{head} {_number(sample.value)} # {_exemplar(sample.exemplar)}\n"
            else:
                yield f"{head} {_number(sample.value)}\n"


def _head(sample: Sample) -> str:
    return f"{sample.name}{_labels(sample.labels)}"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    told = ",".join(f'{name}="{text.translate(_ESCAPES)}"' for name, text in sorted(labels.items()))
    return f"{{{told}}}"


def _exemplar(exemplar: Exemplar) -> str:
    when = "" if exemplar.timestamp is None else f" {exemplar.timestamp}"
    return f"{_labels(dict(exemplar.labels)) or '{}'} {_number(exemplar.value)}{when}"


def _number(value: float) -> str:
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return "NaN" if value != value else repr(float(value))
