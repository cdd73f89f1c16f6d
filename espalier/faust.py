"""Agents for Faust applications: see docs/faust.md. Importing this imports Faust."""

from stream.faust.agent import attach, espalier_app

__all__ = ["attach", "espalier_app"]
