"""The agent whose page is served, and its token."""

from stream.config import Agent

TOKEN = "a-token-of-enough-letters"
AGENT = Agent(name="loans", input="applications")
