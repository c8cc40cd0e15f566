"""Objects that were stored before their schema became stricter (KEP-4008)."""

import copy
from collections.abc import Callable
from typing import Any

from kubewright.schema import Structural


def merged(target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def test_unchanged_parts_are_let_through_as_on_a_real_server(recorded: Callable[[str], Any], causes: Any) -> None:
    setting = recorded("ratcheting_schema")
    structural, old = Structural(setting["schema"]), setting["old"]
    for patch, subresource, expected in recorded("ratcheting"):
        new = merged(old, patch)
        errors = structural.validate_status(new, old) if subresource else structural.validate(new, old)
        assert sorted(causes(errors)) == expected, patch


def test_a_new_object_gets_no_leniency() -> None:
    structural = Structural({"type": "object", "required": ["spec"]})
    assert structural.validate({}, {}) == []
    assert [str(error) for error in structural.validate({})] == ["spec: Required value"]
