"""The metrics as Prometheus reads them."""

from stream.observe.metrics.observer import Metrics
from stream.observe.metrics.text_format import OPENMETRICS, PLAIN


def exposition(metrics: Metrics, accept: str = "") -> tuple[bytes, str]:
    """Return the metrics as bytes and their media type.

    Args:
        metrics: What to show.
        accept: What the reader accepts, as in its request: OpenMetrics, with exemplars, or plain text.
    """
    openmetrics = "application/openmetrics-text" in accept
    text = metrics.writer.write(metrics.registry, openmetrics=openmetrics)
    return text, OPENMETRICS if openmetrics else PLAIN
