"""What is on the wire: records of a broker, predictions, tree changes, dead letters, journal entries."""
