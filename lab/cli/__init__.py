"""The commands of the laboratory: bench and reproduce."""
