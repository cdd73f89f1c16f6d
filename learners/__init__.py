"""Decision trees that grow one instance at a time. A pure library: no Kafka, clock, files or logging.

Read `learner.py` first (what a learner promises), then `registry.py` (every learner), then `id5r/`, the
default.
"""
