"""Measures the product and reproduces the papers. Not part of the package that is installed."""
