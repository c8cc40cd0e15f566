"""Volumes: claims are bound to volumes that are made for them, protected while in use, and reclaimed."""

__all__: list[str] = []
