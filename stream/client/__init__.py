"""For readers of the output topics."""
