from __future__ import annotations

import random
from typing import Any

import pytest

from kubewright import Client, ObjectMeta
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import coordination_v1
from kubewright.operator.election import LeaderElection, new_identity
from kubewright.operator.election_lease import LeaseView, Standing

DURATION = 15


def lease(holder: str, renewed: str = "t0", *, uid: str = "u", **spec: int) -> coordination_v1.Lease:
    return coordination_v1.Lease(
        metadata=ObjectMeta(name="l", namespace="default", uid=uid),
        spec=coordination_v1.LeaseSpec(
            holder_identity=holder, renew_time=renewed, lease_duration_seconds=spec.get("duration", DURATION)
        ),
    )


@pytest.fixture
def view() -> LeaseView:
    return LeaseView("me", lease_duration=DURATION)


def test_a_lease_that_never_was_is_free(view: LeaseView) -> None:
    assert view.holder is None
    assert view.seen(None, 0.0) is Standing.FREE
    assert view.holder == ""


def test_a_holders_time_runs_from_when_a_change_was_seen(view: LeaseView) -> None:
    assert view.seen(lease("other"), 100.0) is Standing.TAKEN
    assert view.seen(lease("other"), 114.9) is Standing.TAKEN
    assert view.seen(lease("other", "t1"), 114.9) is Standing.TAKEN
    assert view.standing(129.8) is Standing.TAKEN
    assert view.standing(129.9) is Standing.FREE


def test_a_lease_is_good_for_as_long_as_it_says(view: LeaseView) -> None:
    assert view.seen(lease("other", duration=40), 0.0) is Standing.TAKEN
    assert view.standing(39.9) is Standing.TAKEN
    assert view.standing(40.0) is Standing.FREE


def test_a_change_of_anything_but_the_spec_renews_nothing(view: LeaseView) -> None:
    view.seen(lease("other"), 0.0)
    annotated = lease("other")
    annotated.metadata.annotations = {"a": "b"}
    annotated.metadata.resource_version = "2"
    assert view.seen(annotated, 15.0) is Standing.FREE


def test_a_released_lease_is_free(view: LeaseView) -> None:
    view.seen(lease("other"), 0.0)
    assert view.seen(lease("", "t1", duration=1), 1.0) is Standing.FREE


def test_ours_is_what_we_wrote_whether_we_were_told_or_not(view: LeaseView) -> None:
    assert view.seen(lease("me"), 0.0) is Standing.TAKEN, "that was another process of our name"
    view.writing("t1", 0.1)
    view.writing("t2", 0.2)
    assert view.seen(lease("me", "t1"), 1.0) is Standing.OURS
    view.written(lease("me", "t3"), 1.5, 2.0)
    assert view.seen(lease("me", "t3"), 3.0) is Standing.OURS
    assert view.seen(lease("me", "t1"), 4.0) is Standing.TAKEN


def test_what_was_tried_long_ago_is_let_go_of(view: LeaseView) -> None:
    for second in range(100):  # as of who may not write it
        view.writing(f"t{second}", second)
    assert view.wrote
    assert view.seen(lease("me", "t99"), 99.0) is Standing.OURS
    assert view.seen(lease("me", "t85"), 99.0) is Standing.OURS
    assert view.seen(lease("me", "t84"), 99.0) is Standing.TAKEN


@pytest.mark.parametrize("holder", ["other", ""])
def test_a_deleted_lease_is_somebodys_for_a_while(view: LeaseView, holder: str) -> None:
    view.seen(lease(holder, duration=1), 0.0)
    assert view.seen(None, 100.0) is Standing.TAKEN
    assert view.seen(None, 114.9) is Standing.TAKEN
    assert view.seen(None, 115.0) is Standing.FREE


def test_our_own_deleted_lease_is_free(view: LeaseView) -> None:
    view.writing("t1", 0.0)
    view.written(lease("me", "t1"), 0.0, 0.5)
    assert view.seen(None, 1.0) is Standing.FREE
    assert view.seen(lease("other", "t1", uid="v"), 2.0) is Standing.TAKEN


@pytest.mark.parametrize("answered", [True, False])
def test_our_own_deleted_lease_is_somebodys_when_another_could_have_led_meanwhile(
    view: LeaseView, answered: bool
) -> None:
    view.writing("t1", 0.0)
    if answered:
        view.written(lease("me", "t1"), 0.0, 3.0)
    else:
        assert view.seen(lease("me", "t1"), 14.0) is Standing.OURS
    assert view.seen(None, 15.0) is Standing.TAKEN
    assert view.seen(None, 29.9) is Standing.TAKEN
    assert view.seen(None, 30.0) is Standing.FREE


def election(name: str = "operator", **options: Any) -> LeaderElection:
    cluster = DevCluster(controllers=lambda _: ())
    return LeaderElection(Client(cluster.transport()), name, "default", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lease_duration": 0}, "lease_duration=0: a Lease counts in whole seconds"),
        ({"lease_duration": 15.5}, "lease_duration=15.5: a Lease counts in whole seconds"),
        ({"renew_deadline": 15.0}, "renew_deadline=15 must be less than lease_duration=15"),
        ({"retry_period": 9.0}, "retry_period=9 must be more than 0 and less than renew_deadline=10 / 1.2"),
        ({"retry_period": 0.0}, "retry_period=0 must be more than 0"),
        ({"identity": ""}, "identity is '': use printable ASCII"),
        ({"identity": "a b"}, "identity is 'a b': use printable ASCII without blanks"),
        ({"identity": "a\r\nx-evil: 1"}, "use printable ASCII"),
    ],
)
def test_what_makes_no_sense_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        election(**options)


def test_a_name_that_no_lease_can_have_is_named() -> None:
    with pytest.raises(ValueError, match="the lease's name"):
        election("No_Name")


def test_identities_are_new_and_repeatable_where_randomness_is() -> None:
    assert new_identity() != new_identity()
    assert new_identity(random.Random(1)) == new_identity(random.Random(1))
