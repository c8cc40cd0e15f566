"""The built-in kinds as a server treats them: what is served, how bodies are read, defaults, validation, columns.

Start with `catalog` (what is served) and `strategy` (the steps of a write); ``definitions.json`` and ``resources.json``
are the facts that both work from.
"""

__all__: list[str] = []
