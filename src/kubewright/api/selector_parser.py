"""The text of label and field selectors, read as the API server reads it and refused in its words.

Grammar: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from kubewright.api.label_rules import label_value_problems, qualified_name_problems

__all__ = ["FieldTerm", "Operator", "Requirement", "SelectorError", "parse_field_terms", "parse_requirements"]


class SelectorError(ValueError):
    """A selector that does not parse; the message is the API server's."""


Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
Requirement = tuple[str, Operator, frozenset[str]]
FieldTerm = tuple[str, bool, str]
"""Path, whether it must equal, value."""

_TOKEN = re.compile(r"[ \t\r\n]*(?:(?P<special>==|!=|[=!(),<>])|(?P<word>[^=!(),<> \t\r\n]+))")
_OPERATORS: dict[str, Operator] = {
    "in": "In",
    "notin": "NotIn",
    "=": "In",
    "==": "In",
    "!=": "NotIn",
    ">": "Gt",
    "<": "Lt",
}
_BINARY = "in, notin, =, ==, !=, gt, lt"
_INT64 = range(-(2**63), 2**63)


class _Token(NamedTuple):
    text: str
    is_word: bool


_END = _Token("", is_word=False)


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text.rstrip(" \t\r\n")):
        yield _Token(match[match.lastgroup or 0], match.lastgroup == "word")


def parse_requirements(text: str) -> tuple[Requirement, ...]:
    """The comma-separated parts of a label selector. Raises `SelectorError`."""
    return tuple(_LabelParser(text).requirements())


class _LabelParser:
    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), _END]
        self._at = 0

    def _peek(self) -> _Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        found = self._peek()
        self._at += 1
        return found

    def requirements(self) -> Iterator[Requirement]:
        while (token := self._peek()) != _END:
            if not token.is_word and token.text != "!":
                raise SelectorError(f"found '{token.text}', expected: !, identifier, or 'end of string'")
            try:
                yield self._requirement()
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            after = self._take()
            if after == _END:
                return
            if after.text != ",":
                raise SelectorError(f"found '{after.text}', expected: ',' or 'end of string'")
            following = self._peek()
            if not following.is_word and following.text != "!":
                raise SelectorError(f"found '{following.text}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        key = self._take()
        negated = key.text == "!"
        if negated:
            key = self._take()
        if not key.is_word:
            raise SelectorError(f"found '{key.text}', expected: identifier")
        _check_key(key.text, "<nil>")
        if self._peek() == _END or self._peek().text == ",":
            return key.text, "DoesNotExist" if negated else "Exists", frozenset()
        if negated:
            return key.text, "DoesNotExist", frozenset()
        token = self._take()
        operator = _OPERATORS.get(token.text)
        if operator is None:
            raise SelectorError(f"found '{token.text}', expected: {_BINARY}")
        values = self._values() if token.is_word else {self._value()}
        _check_values(key.text, operator, sorted(values))
        return key.text, operator, frozenset(values)

    def _value(self) -> str:
        token = self._peek()
        if token == _END or token.text == ",":
            return ""
        self._at += 1
        if not token.is_word:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> set[str]:
        opening = self._take()
        if opening.text != "(":
            raise SelectorError(f"found '{opening.text}' expected: '('")
        first = self._peek()
        if first.text == ")":
            self._at += 1
            return {""}
        if not first.is_word and first.text != ",":
            raise SelectorError(f"found '{first.text}', expected: ',', ')' or identifier")
        found = self._value_list()
        if self._take().text != ")":
            raise SelectorError(f"found '{first.text}', expected: ')'")
        return found

    def _value_list(self) -> set[str]:
        """Up to the closing parenthesis; nothing between two commas, or beside one, is an empty value."""
        found: set[str] = set()
        while True:
            token = self._take()
            if token.is_word:
                found.add(token.text)
                following = self._peek()
                if following.text == ")":
                    return found
                if following.text != ",":
                    raise SelectorError(f"found '{following.text}', expected: ',' or ')'")
            elif token.text == ",":
                found = found or {""}
                following = self._peek()
                if following.text == ")":
                    return found | {""}
                if following.text == ",":
                    self._at += 1
                    found.add("")
            else:
                raise SelectorError(f"found '{token.text}', expected: ',', or identifier")


def _check_key(key: str, path: str) -> None:
    if problems := qualified_name_problems(key):
        raise SelectorError(f"{path}: Invalid value: {_quoted(key)}: {'; '.join(problems)}")


def _check_values(key: str, operator: Operator, values: list[str]) -> None:
    errors = []
    for index, value in enumerate(values):
        if operator in {"Gt", "Lt"} and not (re.fullmatch(r"[+-]?[0-9]+", value) and int(value) in _INT64):
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            errors.append(f"values[{index}]: Invalid value: {_quoted(value)}: {text}")
    for index, value in enumerate(values):
        if problems := label_value_problems(value):
            errors.append(f"values[{index}][{key}]: Invalid value: {_quoted(value)}: {'; '.join(problems)}")
    if errors:
        raise SelectorError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_field_terms(text: str) -> tuple[FieldTerm, ...]:
    """The comma-separated parts of a field selector, in order of their text. Raises `SelectorError`."""
    return tuple(_field_term(part, text) for part in sorted(_field_parts(text)) if part)


def _field_parts(text: str) -> list[str]:
    """A backslash takes the meaning from the character after it."""
    return re.findall(r"(?:^|,)((?:[^\\,]|\\.|\\$)*)", text, re.DOTALL)


def _field_term(part: str, text: str) -> FieldTerm:
    match = re.search("!=|==|=", part)
    if match is None:
        raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
    return part[: match.start()], match[0] != "!=", _unescaped(part[match.end() :])


def _unescaped(value: str) -> str:
    found = ""
    characters = iter(value)
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            if escaped not in {"\\", ",", "="}:
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{escaped}")
            found += escaped
        elif char in ",=":
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(char)}")
        else:
            found += char
    return found
