"""Values against a schema, refused in the API server's words and in its order.

Within one value the order is: type, allOf/anyOf/oneOf/not, string, format, number, list, enum, object. Properties are
visited by name; the real server visits them in random order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from kubewright.schema import errors
from kubewright.schema.errors import NO_FIELD, FieldError
from kubewright.schema.formats import matches_format
from kubewright.schema.go_text import json_text, number_text, quoted
from kubewright.schema.node import Node
from kubewright.schema.patterns import PatternError, compile_pattern

__all__ = ["NOTHING", "Nothing", "same", "validate"]


class Nothing:
    """The absence of an old value to compare with; null is a value."""


NOTHING = Nothing()


class _Result:
    """Errors of one value, each once, and how many checks it went through (which ranks the branches of anyOf)."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.checks = 0

    def add(self, error: FieldError) -> None:
        if error not in self.errors:
            self.errors.append(error)

    def merge(self, other: _Result) -> None:
        for error in other.errors:
            self.add(error)
        self.checks += other.checks


def validate(value: Any, node: Node, *, path: str = "", old: Any = NOTHING, prefix: str = "") -> list[FieldError]:
    """Everything the schema refuses in ``value``.

    Parts that equal the corresponding part of ``old`` are let through whatever the schema says (KEP-4008). ``prefix``
    is put before the fields' paths, not into the messages: that is how the server reports a status update.
    """
    found = _visit(value, node, path, old).errors
    if not prefix:
        return found
    return [
        FieldError(error.reason, prefix if error.field == NO_FIELD else f"{prefix}.{error.field}", error.detail)
        for error in found
    ]


def _visit(value: Any, node: Node, path: str, old: Any) -> _Result:
    result = _check(value, node, path, old)
    if result.errors and not isinstance(old, Nothing) and _unchanged(value, old, node):
        result.errors = []
    return result


def _check(value: Any, node: Node, path: str, old: Any) -> _Result:
    result = _Result()
    if value is None:
        _null(node, path, result)
        _enum(value, node, path, result)
        return result
    if node.types or node.format:
        result.checks += 1
        _type(value, node, path, result)
    result.checks += 2  # the combinations below, and the enum, are always looked at
    _combinations(value, node, path, result)
    if isinstance(value, str):
        result.checks += 1
        _string(value, node, path, result)
        if node.format and not set(node.types) & {"integer", "number"}:
            result.checks += 1
            _format(value, node, path, result)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        result.checks += 2
        _number(value, node, path, result)
    elif isinstance(value, list):
        result.checks += 2
        _list(value, node, path, old, result)
    _enum(value, node, path, result)
    if isinstance(value, dict):
        result.checks += 1
        _object(value, node, path, old, result)
    result.checks += 1
    return result


def _field(path: str) -> str:
    return path.removeprefix(".")


def _invalid(path: str, value: Any, complaint: str) -> FieldError:
    return errors.invalid(_field(path), value, f"{path} in body {complaint}")


def _type_error(path: str, wanted: str, got: str) -> FieldError:
    return errors.type_invalid(_field(path), got, f"{path} in body must be of type {wanted}: {quoted(got)}")


# types --------------------------------------------------------------------------------------------------------------


def _null(node: Node, path: str, result: _Result) -> None:
    result.checks += 1
    if node.types and "null" not in node.types and not node.nullable:
        result.checks -= 1
        result.add(_type_error(path, ",".join(node.types), "null"))


def _type_of(value: Any) -> tuple[str, str]:
    """The JSON type of a value, and the format that the server takes it for."""
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, int):
        return ("integer", "int64") if _is_integer(value) else ("number", "float64")
    if isinstance(value, float):
        return "number", "float64"
    if isinstance(value, str):
        return "string", ""
    return ("array" if isinstance(value, list) else "object"), ""


def _type(value: Any, node: Node, path: str, result: _Result) -> None:
    got, got_format = _type_of(value)
    fits = (
        got in node.types
        or (got == "integer" and "number" in node.types)
        or (got == "number" and "integer" in node.types and _is_whole(value))
    )
    if node.format:
        if isinstance(value, str | list):
            if "number" not in node.types and "integer" not in node.types:
                result.checks += 1  # the format decides about strings; the server looks no closer at lists
                return
        elif not fits and got_format != node.format:
            result.add(_type_error(path, node.format, got_format))
            return
    if not fits:
        result.add(_type_error(path, ",".join(node.types), got))
    else:
        result.checks += 1


# combinations -------------------------------------------------------------------------------------------------------


def _general(message: str) -> FieldError:
    """An error about a combination of schemas: the server names the field in the message only."""
    return errors.invalid(NO_FIELD, "", message)


def _combinations(value: Any, node: Node, path: str, result: _Result) -> None:
    """The branches see no old value: the server lets nothing through inside them."""
    if node.any_of:
        outcomes = []
        for branch in node.any_of:
            outcomes.append(_check(value, branch, path, NOTHING))
            if not outcomes[-1].errors:
                break
        if outcomes[-1].errors:
            result.add(_general(f"{quoted(path)} must validate at least one schema (anyOf)"))
            result.merge(_nearest(outcomes))
        else:
            result.merge(outcomes[-1])
    if node.one_of:
        _one_of([_check(value, branch, path, NOTHING) for branch in node.one_of], path, result)
    if node.all_of:
        outcomes = [_check(value, branch, path, NOTHING) for branch in node.all_of]
        for outcome in outcomes:
            result.merge(outcome)
        valid = sum(not outcome.errors for outcome in outcomes)
        if valid != len(outcomes):
            remark = "" if valid else ". None validated"
            result.add(_general(f"{quoted(path)} must validate all the schemas (allOf){remark}"))
    if node.not_ is not None and not _check(value, node.not_, path, NOTHING).errors:
        result.add(_general(f"{quoted(path)} must not validate the schema (not)"))
    result.checks += 1


def _nearest(outcomes: Sequence[_Result]) -> _Result:
    """The branch that got furthest, the first of equals: its errors are the likeliest to help."""
    return max(outcomes, key=lambda outcome: outcome.checks)


def _one_of(outcomes: list[_Result], path: str, result: _Result) -> None:
    valid = [outcome for outcome in outcomes if not outcome.errors]
    if len(valid) == 1:
        result.merge(valid[0])
        return
    remark = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.add(_general(f"{quoted(path)} must validate one and only one schema (oneOf). {remark}"))
    if not valid:
        result.merge(_nearest(outcomes))


# scalars ------------------------------------------------------------------------------------------------------------


def _string(value: str, node: Node, path: str, result: _Result) -> None:
    """The first of length and pattern that fails; lengths count characters."""
    schema = node.schema
    longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if longest is not None and len(value) > longest:
        result.add(errors.too_long(_field(path), int(longest)))
    elif shortest is not None and len(value) < shortest:
        result.add(_invalid(path, value, f"should be at least {int(shortest)} chars long"))
    elif pattern:
        try:
            matched = compile_pattern(pattern).search(value)
        except PatternError as error:
            result.add(_invalid(path, value, f"should match '{pattern}, but pattern is invalid: {error}'"))
        else:
            if not matched:
                result.add(_invalid(path, value, f"should match '{pattern}'"))


def _format(value: str, node: Node, path: str, result: _Result) -> None:
    if not matches_format(node.format, value):
        result.add(_type_error(path, node.format, value))


_RANGES = {"int32": 2**31, "int64": 2**63}


def _out_of_range(value: float, node: Node) -> str | None:
    """What the value should have been, where the declared type and format can't hold it."""
    if node.types == ("integer",):
        limit = _RANGES.get(node.format, 2**63)
        if value != math.floor(value) or not -limit <= value < limit:
            return f"integer with format {node.format}" if node.format else "integer (default format)"
    elif node.types == ("number",) and node.format == "float" and abs(value) > 3.4028235677973366e38:
        return "number with format float"
    return None


def _number(value: float, node: Node, path: str, result: _Result) -> None:
    def compared(keyword: str, what: str) -> tuple[float, float]:
        """The limit and the value as the server compares them: integers if both are, even if the limit is cut."""
        limit = node.schema[keyword]
        wanted = _out_of_range(limit, node)
        if wanted:
            result.add(_general(f"{what} value must be of type {wanted} in {path}"))
        if _is_integer(value) and not wanted:
            return int(limit), value
        return float(limit), float(value)

    schema = node.schema
    wanted = _out_of_range(value, node)
    if wanted:
        result.add(_general(f"Checked value must be of type {wanted} in {path}"))
    if "multipleOf" in schema:
        factor, shown = compared("multipleOf", "MultipleOf")
        if factor <= 0:
            complaint = f"factor MultipleOf declared for {path} must be positive: {number_text(factor)}"
            result.add(errors.invalid(_field(path), factor, complaint))
        elif not _is_multiple(shown, factor):
            result.add(_invalid(path, shown, f"should be a multiple of {number_text(factor)}"))
    if "minimum" in schema:
        limit, shown = compared("minimum", "Minimum boundary")
        exclusive = bool(schema.get("exclusiveMinimum"))
        if shown < limit or (exclusive and shown == limit):
            relation = "greater than" if exclusive else "greater than or equal to"
            result.add(_invalid(path, shown, f"should be {relation} {number_text(limit)}"))
    if "maximum" in schema:
        limit, shown = compared("maximum", "Maximum boundary")
        exclusive = bool(schema.get("exclusiveMaximum"))
        if shown > limit or (exclusive and shown == limit):
            relation = "less than" if exclusive else "less than or equal to"
            result.add(_invalid(path, shown, f"should be {relation} {number_text(limit)}"))


def _is_integer(value: float) -> bool:
    """Whether the server holds the number as an integer, which it does up to 64 bits."""
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    return _is_whole(1 / factor * value if factor < 1 else value / factor)


_LARGEST_WHOLE = 2**53 - 1


def _is_whole(value: float) -> bool:
    """Whether a floating-point number is an integer that JSON can carry, give or take a rounding error."""
    if not math.isfinite(value) or abs(value) > _LARGEST_WHOLE:
        return False
    difference = abs(value - math.trunc(value))
    return difference == 0 or difference / (abs(value) + abs(math.trunc(value))) < 1e-9


def _enum(value: Any, node: Node, path: str, result: _Result) -> None:
    if node.enum and not any(_is_member(value, member) for member in node.enum):
        allowed = [member if isinstance(member, str) else json_text(member) for member in node.enum]
        result.add(errors.not_supported(_field(path), value, allowed))


def _is_member(value: Any, member: Any) -> bool:
    if _is_number(value) and _is_number(member):
        return bool((int(value) if isinstance(member, int) else float(value)) == member)
    return same(value, member)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(one: Any, other: Any) -> bool:
    """Deep equality that tells 1 from true and from 1.0, as the server does."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


# lists and objects --------------------------------------------------------------------------------------------------


def _list(value: list[Any], node: Node, path: str, old: Any, result: _Result) -> None:
    if node.items is not None:
        before = _matching_items(value, node, old)
        for index, item in enumerate(value):
            result.merge(_visit(item, node.items, f"{path}[{index}]", before[index]))
    least, most = node.schema.get("minItems"), node.schema.get("maxItems")
    if least is not None and len(value) < least:
        result.add(_invalid(path, len(value), f"should have at least {int(least)} items"))
    if most is not None and len(value) > most:
        result.add(errors.too_many(_field(path), len(value), int(most)))
    if node.schema.get("uniqueItems") and any(same(a, b) for i, a in enumerate(value) for b in value[:i]):
        result.add(_invalid(path, "", "shouldn't contain duplicates"))


def _unchanged(value: Any, old: Any, node: Node | None) -> bool:
    """Whether they are equal; in what order the items of a list map come does not count."""
    if same(value, old):
        return True
    if node is None:
        return False
    if isinstance(value, dict) and isinstance(old, dict):
        return value.keys() == old.keys() and all(_unchanged(value[key], old[key], node.child(key)) for key in value)
    if node.list_type != "map" or not isinstance(value, list) or not isinstance(old, list) or len(value) != len(old):
        return False
    pairs = zip(value, _matching_items(value, node, old), strict=True)
    return all(not isinstance(before, Nothing) and _unchanged(item, before, node.items) for item, before in pairs)


def _matching_items(value: list[Any], node: Node, old: Any) -> Sequence[Any]:
    """For each item the old item with the same keys; items of other lists have no identity and match nothing."""
    if node.list_type != "map" or not isinstance(old, list):
        return [NOTHING] * len(value)
    before = [item for item in old if isinstance(item, dict)]
    return [_with_keys(before, item, node.list_map_keys) for item in value]


def _with_keys(items: Iterable[dict[str, Any]], wanted: Any, keys: Sequence[str]) -> Any:
    if not isinstance(wanted, dict):
        return NOTHING
    identity = [wanted.get(key) for key in keys]
    return next((item for item in items if same([item.get(key) for key in keys], identity)), NOTHING)


def _object(value: dict[str, Any], node: Node, path: str, old: Any, result: _Result) -> None:
    least, most = node.schema.get("minProperties"), node.schema.get("maxProperties")
    if least is not None and len(value) < least:
        result.add(_invalid(path, len(value), f"should have at least {int(least)} properties"))
    if most is not None and len(value) > most:
        result.add(errors.too_many(_field(path), len(value), int(most)))
    before = old if isinstance(old, dict) else {}
    if node.additional is not None:
        for key in sorted(value.keys() - node.properties.keys()):
            result.merge(_visit(value[key], node.additional, f"{path}.{key}", before.get(key, NOTHING)))
    for name, child in node.properties.items():
        if name in value:
            result.merge(_visit(value[name], child, f"{path}.{name}" if path else name, before.get(name, NOTHING)))
    for name in node.required:
        if name not in value:
            result.add(errors.required(_field(f"{path}.{name}")))
