"""Agents for Faust applications."""
