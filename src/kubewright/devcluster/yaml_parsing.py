"""`parse_yaml`: YAML as Kubernetes reads it, with a real server's words for what does not parse."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from kubewright.schema.go_text import quoted

__all__ = ["parse_yaml"]


class _YamlLoader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: dates stay text, and a bare y or n is a boolean."""


_YamlLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_YamlLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), list("yYnN"))
_YamlLoader.bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


def parse_yaml(body: bytes, *, duplicates: bool) -> tuple[Any, list[str]]:
    """The first document of a text, and if asked which keys appear twice; see `yaml_bodies.load_yaml`."""
    try:
        loader = _YamlLoader(body)
        node = loader.get_node() if loader.check_node() else None  # further documents are not looked at
        if node is None:
            return None, []
        return _string_keys(loader.construct_document(node)), _keys_twice(node) if duplicates else []
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"yaml: {_problem(error)}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"yaml: {error}") from error


_PROBLEMS = (
    (r"expected <block end>, but found .*", "did not find expected key"),
    (r"expected (',' or '[\]}]').*", r"did not find expected \1"),
    (r"expected the node content, but found .*", "did not find expected node content"),
    (r"expected '(<document start>)', but found .*", r"did not find expected \1"),
    (r"expected (alphabetic or numeric character), but found .*", r"did not find expected \1"),
    (r"mapping values are not allowed here", "mapping values are not allowed in this context"),
    (r"found character .* that cannot start any token", "found character that cannot start any token"),
    (r"found unknown escape character .*", "found unknown escape character"),
)


def _problem(error: yaml.MarkedYAMLError) -> str:
    """What the server's parser, which descends from the same one, says to this; it counts lines from 0, or from 1."""
    text, mark = error.problem or "", error.problem_mark
    if isinstance(error, yaml.composer.ComposerError):
        return re.sub(r"found undefined alias ('.*')", r"unknown anchor \1 referenced", text)
    if "block collection" in (error.context or ""):
        text = "did not find expected '-' indicator"
    for pattern, said in _PROBLEMS:
        text = re.sub(pattern, said, text, count=1) if re.fullmatch(pattern, text) else text
    line = mark.line if mark is not None else 0
    if isinstance(error, yaml.scanner.ScannerError):
        line += 1 if line else 0
    elif mark is not None and mark.column and mark.pointer == len((mark.buffer or "").rstrip("\0")):
        line += 1  # the end of the text is a line of its own
    return f"line {line}: {text}" if line else text


def _keys_twice(node: yaml.Node) -> list[str]:
    found: list[str] = []
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            found += _keys_twice(item)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            found += _keys_twice(value)
            if key.value in seen:
                found.append(f"line {value.start_mark.line + 1}: key {quoted(str(key.value))} already set in map")
            seen.add(key.value)
    return found


def _string_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else _key(key): _string_keys(item) for key, item in value.items()}
    return [_string_keys(item) for item in value] if isinstance(value, list) else value


def _key(key: Any) -> str:
    return json.dumps(key) if isinstance(key, bool | int | float) or key is None else str(key)
