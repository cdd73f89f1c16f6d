"""Instances from CSV and JSON Lines files, and the types of their columns."""
