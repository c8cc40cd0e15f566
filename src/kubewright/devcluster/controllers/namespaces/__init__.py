"""Namespaces: what each of them has from the start, and how one ends."""

__all__: list[str] = []
