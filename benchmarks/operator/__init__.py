"""How long a manager takes to start and end: ``python -m benchmarks.operator``."""
