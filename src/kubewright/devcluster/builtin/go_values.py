"""Values of structured types as the server's messages print them, and errors that quote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubewright.schema.errors import FieldError
from kubewright.schema.go_text import quoted

__all__ = ["int_or_string", "invalid_go", "label_selector", "not_found", "string_map", "strings"]


def invalid_go(field: str, text: str, message: str) -> FieldError:
    """An "Invalid value" whose value is already printed."""
    return FieldError("FieldValueInvalid", field, f"Invalid value: {text}: {message}")


def not_found(field: str, value: str) -> FieldError:
    return FieldError("FieldValueNotFound", field, f"Not found: {quoted(value)}")


def string_map(value: Mapping[str, str] | None) -> str:
    if not value:
        return "map[string]string(nil)"
    return "map[string]string{" + ", ".join(f"{quoted(key)}:{quoted(value[key])}" for key in sorted(value)) + "}"


def strings(value: Sequence[str] | None, *, type_name: str = "string") -> str:
    if value is None:
        return f"[]{type_name}(nil)"
    return f"[]{type_name}{{" + ", ".join(map(quoted, value)) + "}"


def int_or_string(value: Any) -> str:
    if isinstance(value, str):
        return f"intstr.IntOrString{{Type:1, IntVal:0, StrVal:{quoted(value)}}}"
    return f'intstr.IntOrString{{Type:0, IntVal:{value}, StrVal:""}}'


def label_selector(selector: Mapping[str, Any]) -> str:
    labels = string_map(selector.get("matchLabels"))
    expressions = selector.get("matchExpressions")
    if not expressions:
        return f"v1.LabelSelector{{MatchLabels:{labels}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}}"
    listed = ", ".join(
        f"v1.LabelSelectorRequirement{{Key:{quoted(each.get('key', ''))}, Operator:{quoted(each.get('operator', ''))}, "
        f"Values:{strings(each.get('values'))}}}"
        for each in expressions
    )
    return f"v1.LabelSelector{{MatchLabels:{labels}, MatchExpressions:[]v1.LabelSelectorRequirement{{{listed}}}}}"
