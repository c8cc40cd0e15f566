"""What holds for any sequence of applies and updates."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubewright.patch.apply import applied_fields
from kubewright.patch.fields import digest
from tests.unit.patch.things import LATE, THING, applied, thing, updated

PORT: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"port": st.integers(1, 3), "protocol": st.just("TCP")}, optional={"name": st.just("n")}
)
PORTS: st.SearchStrategy[Any] = st.lists(PORT, unique_by=lambda port: int(port["port"]), max_size=3)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from("ab"),
        "set": st.lists(st.sampled_from("abc"), unique=True),
        "ports": PORTS,
        "labels": st.dictionaries(st.sampled_from("ab"), st.sampled_from("12"), max_size=2),
        "amap": st.fixed_dictionaries({}, optional={"a": st.sampled_from("12")}),
        "free": st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 1), max_size=2), max_size=2),
    },
)
STEPS = st.lists(st.tuples(st.sampled_from(["m", "o", "update"]), SPECS), max_size=5)


@given(STEPS, SPECS.map(lambda spec: {"name": "a", **spec}))  # who applies nothing but empty lists owns nothing
def test_applying_twice_is_applying_once(steps: list[tuple[str, dict[str, Any]]], spec: dict[str, Any]) -> None:
    live: dict[str, Any] = thing({}, uid="u")
    for manager, other in steps:
        if manager == "update":
            live = updated(live, {**live, "spec": other})
        else:
            live = applied(live, thing(other), manager, force=True)
    once = applied(live, thing(spec), "m", force=True)
    twice = applied(once, thing(spec), "m", force=True, now=LATE)
    assert applied(twice, thing(spec), "m", now=LATE) is twice
    for key, value in spec.items():
        if not isinstance(value, list | dict) or key == "amap":
            assert twice["spec"][key] == value
    entries: Any = twice["metadata"].get("managedFields", [])
    for entry in entries:
        if (entry["manager"], entry["operation"]) == ("m", "Apply"):
            assert digest(entry["fieldsV1"]) == digest(applied_fields(thing(spec), THING))


@given(SPECS, SPECS)
def test_one_managers_object_is_what_it_last_applied(first: dict[str, Any], second: dict[str, Any]) -> None:
    live = applied(applied(None, thing(first)), thing(second))

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            inside = {key: filled(item) for key, item in value.items()}
            return {key: item for key, item in inside.items() if item not in (None, {}, [])}
        return value

    assert filled(live.get("spec") or {}) == filled(second)
