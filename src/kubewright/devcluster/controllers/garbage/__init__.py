"""Garbage collection by owner references, over all kinds.

Start with `graph` (who belongs to whom), then `verdict` (what is to be done about one object; pure) and `collector`.
See https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

__all__: list[str] = []
