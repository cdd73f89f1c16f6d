"""Engines: what moves records between topics and processors. They know nothing of trees."""
