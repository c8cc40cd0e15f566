from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kubewright.api import (
    AlreadyOwned,
    Condition,
    Conditions,
    ObjectMeta,
    Resource,
    Status,
    StatusCause,
    StatusDetails,
    api_error,
    controller_of,
    micro_time,
    resource,
    set_controller,
)
from kubewright.api import errors as api_errors
from kubewright.api.names import pluralize


@resource("example.com/v1")
class Parent(Resource):
    pass


@resource("example.com/v1", scope="Cluster")
class Site(Resource):
    pass


class Moving:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, 12, 0, 0, 999, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return 0.0


def test_a_transition_time_moves_when_the_status_flips_and_only_then() -> None:
    clock, entries = Moving(), list[Condition]()
    conditions = Conditions(entries, generation=3, clock=clock)
    conditions.set("Ready", False, reason="Starting")
    start = entries[0].last_transition_time
    assert start == datetime(2026, 1, 1, 12, tzinfo=UTC)
    clock.time += timedelta(minutes=1)
    conditions.set("Ready", False, reason="StillStarting", message="2 of 3")
    assert (entries[0].last_transition_time, entries[0].reason, entries[0].message) == (
        start,
        "StillStarting",
        "2 of 3",
    )
    conditions.set("Ready", True, reason="Up")
    assert entries[0].last_transition_time == start + timedelta(minutes=1)
    assert entries[0].observed_generation == 3
    assert conditions.is_true("Ready")


def test_other_types_are_left_alone() -> None:
    entries = [
        Condition(
            type="Other", status="True", reason="X", message="", last_transition_time=datetime(2020, 1, 1, tzinfo=UTC)
        )
    ]
    conditions = Conditions(entries, generation=1, clock=Moving())
    conditions.set("Ready", None, reason="Unsure")
    assert [(entry.type, entry.status) for entry in entries] == [("Other", "True"), ("Ready", "Unknown")]
    conditions.remove("Ready")
    assert [entry.type for entry in entries] == ["Other"]


def owner(namespace: str | None = "a", uid: str = "1") -> Parent:
    return Parent(metadata=ObjectMeta(name="p", namespace=namespace, uid=uid))


def test_a_controller_is_set_once_and_kept_current() -> None:
    child = Parent(metadata=ObjectMeta(name="c", namespace="a"))
    set_controller(child, owner())
    set_controller(child, owner())
    references = child.metadata.owner_references or []
    assert [(reference.kind, reference.uid, reference.controller) for reference in references] == [
        ("Parent", "1", True)
    ]
    found = controller_of(child.metadata)
    assert found is not None
    assert found.block_owner_deletion


def test_a_second_controller_is_refused() -> None:
    child = Parent(metadata=ObjectMeta(name="c", namespace="a"))
    set_controller(child, owner())
    with pytest.raises(AlreadyOwned, match="Parent a/c is already controlled by Parent p"):
        set_controller(child, owner(uid="2"))


def test_an_owner_in_another_namespace_is_refused() -> None:
    with pytest.raises(AlreadyOwned, match="an owner in a namespace owns objects of that namespace only"):
        set_controller(Parent(metadata=ObjectMeta(name="c", namespace="b")), owner())
    with pytest.raises(AlreadyOwned):
        set_controller(Site(metadata=ObjectMeta(name="c")), owner())


def test_a_cluster_scoped_owner_may_own_anything() -> None:
    child = Parent(metadata=ObjectMeta(name="c", namespace="b"))
    set_controller(child, Site(metadata=ObjectMeta(name="s", uid="9")))
    assert child.metadata.owner_references


def test_an_object_without_uid_owns_nothing() -> None:
    with pytest.raises(ValueError, match="Parent a/p has no metadata.uid"):
        set_controller(
            Parent(metadata=ObjectMeta(name="c", namespace="a")), Parent(metadata=ObjectMeta(name="p", namespace="a"))
        )


@pytest.mark.parametrize(
    ("reason", "code", "expected"),
    [
        ("NotFound", 404, api_errors.NotFound),
        ("AlreadyExists", 409, api_errors.AlreadyExists),
        ("Conflict", 409, api_errors.Conflict),
        ("Expired", 410, api_errors.Expired),
        ("Gone", 410, api_errors.Gone),
        ("Timeout", 504, api_errors.Timeout),
        ("ServerTimeout", 500, api_errors.ServerTimeout),
        ("InternalError", 500, api_errors.InternalError),
        ("StoreReadError", 500, api_errors.StoreReadError),
        ("ServiceUnavailable", 503, api_errors.ServiceUnavailable),
        ("NotAcceptable", 406, api_errors.NotAcceptable),
        ("RequestEntityTooLarge", 413, api_errors.RequestEntityTooLarge),
        ("Unknown", 500, api_errors.InternalError),
        (None, 410, api_errors.Gone),
        (None, 504, api_errors.Timeout),
        (None, 409, api_errors.Conflict),
        (None, 404, api_errors.NotFound),
        ("Strange", 418, api_errors.ApiError),
    ],
)
def test_a_status_becomes_the_most_specific_error(
    reason: str | None, code: int, expected: type[api_errors.ApiError]
) -> None:
    error = api_error(Status(reason=reason, code=code, message="why"))
    assert type(error) is expected
    assert str(error) == "why"


def test_an_expired_resource_version_is_gone_too() -> None:
    with pytest.raises(api_errors.Gone, match="why"):
        raise api_error(Status(reason="Expired", code=410, message="why"))


def test_what_is_invalid_is_told_by_field() -> None:
    causes = [
        StatusCause(reason="FieldValueInvalid", message="must be positive", field="spec.replicas"),
        StatusCause(reason="FieldValueInvalid", message="must be even", field="spec.replicas"),
        StatusCause(reason="FieldValueRequired", field="spec.engine"),
        StatusCause(message="no"),
    ]
    error = api_error(Status(reason="Invalid", code=422, message="why", details=StatusDetails(causes=causes)))
    assert isinstance(error, api_errors.Invalid)
    assert error.fields == {
        "spec.replicas": ["must be positive", "must be even"],
        "spec.engine": ["FieldValueRequired"],
        "": ["no"],
    }


def test_micro_time_always_has_six_digits() -> None:
    assert micro_time(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("word", "plural"),
    [
        ("database", "databases"),
        ("policy", "policies"),
        ("gateway", "gateways"),
        ("ingress", "ingresses"),
        ("box", "boxes"),
        ("endpoints", "endpoints"),
    ],
)
def test_plurals_are_english(word: str, plural: str) -> None:
    assert pluralize(word) == plural
