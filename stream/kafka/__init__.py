"""The engine on confluent-kafka: one transaction per batch, state in topics, exactly once."""
