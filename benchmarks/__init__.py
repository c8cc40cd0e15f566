"""Measurements, one package for each subject; each runs with ``python -m benchmarks.NAME``."""
