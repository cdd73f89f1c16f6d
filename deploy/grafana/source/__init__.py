"""The dashboards, made by code: `make dashboards` writes them to `deploy/grafana/dashboards`.

`panels` has the words, `overview`, `learner`, `health` and `compare` what they say. The builders are those of
Grafana's own foundation SDK, in a release that writes the schema of Grafana 12 (41).
"""
