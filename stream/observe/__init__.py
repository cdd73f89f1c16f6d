"""What can be seen of a worker: metrics, logs, health checks, and its check of itself."""
