"""Where things are, for tests at any depth."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
