"""Request bodies that are sent as YAML."""

from __future__ import annotations

from typing import Any

from kubewright.devcluster.bodies import load_json

__all__ = ["load_yaml"]


def load_yaml(body: bytes, *, duplicates: bool = False) -> tuple[Any, list[str]]:
    """Decodes YAML, or JSON, and if asked says which keys appear twice (``line 6: key "size" already set in map``).

    Raises ValueError with the text of the server's decoder.
    """
    try:
        if body.lstrip()[:1] == b"{":
            value, twice = load_json(body, duplicates=duplicates)
            if not twice:
                return value, []
    except ValueError:
        pass  # flow-style YAML begins the same way
    from kubewright.devcluster.yaml_parsing import parse_yaml  # noqa: PLC0415 - few clients send YAML; it loads slowly

    return parse_yaml(body, duplicates=duplicates)
