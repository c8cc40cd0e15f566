"""`parse_yaml` and `parse_documents`: YAML as Kubernetes reads it, with a real server's words for what does not parse."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import yaml

from kubewright.schema.go_text import quoted

__all__ = ["parse_documents", "parse_yaml"]


class _YamlLoader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: dates and times of day stay text, 1e3 is a number, a bare y or n is a boolean."""


_TAG = "tag:yaml.org,2002:"
_READ_OTHERWISE = {_TAG + name for name in ("timestamp", "int", "float", "value")}
_NUMBER = re.compile(
    r"""[-+]?(0[xX][0-9a-fA-F_]+ | 0[oO][0-7_]+ | 0[bB][01_]+ | ([0-9][0-9_]*(\.[0-9_]*)? | \.[0-9][0-9_]*)([eE][-+]?[0-9]+)?)$
        | [-+]?\.(inf|Inf|INF)$ | \.(nan|NaN|NAN)$""",
    re.VERBOSE,
)
_OCTAL = re.compile(r"([-+]?)0[oO]?([0-7]+)")
_LARGEST_IN_FULL = 1e21


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int | float | str:
    """A number as Go's parsers read it; one that no float can hold stays text. What is whole becomes an integer."""
    text = loader.construct_scalar(node)
    plain = text.replace("_", "")
    if (octal := _OCTAL.fullmatch(plain)) is not None:
        return int(octal[1] + octal[2], 8)
    try:
        return int(plain, 0)
    except ValueError:
        pass
    special = plain.lower().lstrip("-+")
    if special in {".inf", ".nan"}:
        sign = "-" if plain.startswith("-") else "+"
        raise ValueError(f"json: unsupported value: {'NaN' if special == '.nan' else sign + 'Inf'}")
    value = float(plain)
    if math.isinf(value):
        return text
    return int(value) if value.is_integer() and abs(value) < _LARGEST_IN_FULL else value


def _text(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    """A "<<" that is no key is text."""
    return loader.construct_scalar(node)


_YamlLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _READ_OTHERWISE]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_YamlLoader.add_implicit_resolver(_TAG + "bool", re.compile(r"^[yYnN]$"), list("yYnN"))
_YamlLoader.bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}
_YamlLoader.add_implicit_resolver(_TAG + "float", _NUMBER, list("-+.0123456789"))
_YamlLoader.add_constructor(_TAG + "float", _number)
_YamlLoader.add_constructor(_TAG + "merge", _text)


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


def parse_documents(text: str) -> list[Any]:
    """Every document of a text. Raises `yaml.YAMLError`, and ValueError for numbers that JSON has not."""
    return [_string_keys(document) for document in yaml.load_all(text, Loader=_YamlLoader)]


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
