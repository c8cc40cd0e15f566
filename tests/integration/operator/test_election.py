"""Leader election in virtual time: who leads when, whatever happens to candidates, their clocks and the server."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from kubewright.client import MergePatch, NotLeading, TransportError
from kubewright.kinds import coordination_v1
from kubewright.telemetry import new_log
from kubewright.testing import run_in_virtual_time
from tests.integration.operator.candidates import (
    LEASE_DURATION,
    NAME,
    NAMESPACE,
    RENEW_DEADLINE,
    RETRY_PERIOD,
    WRITE_TIMEOUT,
    World,
    now,
    world,
)

NEXT_LOOK = 2.2 * RETRY_PERIOD
"""The longest a candidate waits before it looks again."""
DAY = timedelta(days=1)


def in_world(test: Callable[[World], Awaitable[None]]) -> Callable[[], None]:
    """The test in a world of its own, in virtual time."""

    def run() -> None:
        async def main() -> None:
            async with world() as made:
                await test(made)

        run_in_virtual_time(main)

    return run


@in_world
async def test_the_first_leads_at_once_and_says_so_in_an_ordinary_lease(w: World) -> None:
    a = w.candidate("a", labels={"app": "operator"}).start()
    assert await a.leads() == 0.0
    assert (a.election.is_leader, a.election.leader) == (True, "a")
    lease = await w.lease()
    assert lease.metadata.labels == {"app": "operator"}
    assert lease.spec == coordination_v1.LeaseSpec(
        holder_identity="a",
        lease_duration_seconds=LEASE_DURATION,
        acquire_time="2026-01-01T00:00:00.000000Z",
        renew_time="2026-01-01T00:00:00.000000Z",
        lease_transitions=0,
    )
    await asyncio.sleep(101)
    spec = await w.spec()
    assert (spec.acquire_time, spec.renew_time) == ("2026-01-01T00:00:00.000000Z", "2026-01-01T00:01:40.000000Z")


@in_world
async def test_a_standby_takes_over_from_one_that_crashed_within_the_bound(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    for number in range(20):
        b = w.candidate(f"b{number}").start()
        await asyncio.sleep(w.rng.uniform(10, 40))
        assert b.election.leader == a.election.identity
        assert not b.election.is_leader
        await a.crash()
        took = await b.leads()
        assert LEASE_DURATION - RETRY_PERIOD <= took <= LEASE_DURATION + NEXT_LOOK + 0.1 * RETRY_PERIOD
        assert (await w.spec()).lease_transitions == number + 1
        a = b


@in_world
async def test_a_released_lease_is_free_at_once(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    await asyncio.sleep(30)
    await a.election.release()
    spec = await w.spec()
    assert (spec.holder_identity, spec.lease_duration_seconds, spec.lease_transitions) == ("", 1, 0)
    assert not a.election.lost.is_set()
    assert await b.leads() <= NEXT_LOOK
    spec = await w.spec()
    assert (spec.holder_identity, spec.lease_duration_seconds, spec.lease_transitions) == ("b", LEASE_DURATION, 1)
    assert a.has_ended


@in_world
async def test_two_processes_that_were_given_one_identity_do_not_both_lead(w: World) -> None:
    first, second = w.candidate("same").start(), w.candidate("same")
    await first.leads()
    await asyncio.sleep(5)
    second.start()
    for _ in range(100):
        await asyncio.sleep(1)
        assert (first.election.is_leader, second.election.is_leader) == (True, False)
    await first.crash()
    assert await second.leads() <= LEASE_DURATION + NEXT_LOOK + 0.1 * RETRY_PERIOD


@in_world
async def test_a_standby_that_goes_leaves_the_lease_alone(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    await asyncio.sleep(30)
    before = await w.lease()
    await b.election.release()
    assert (await w.lease()).spec.holder_identity == before.spec.holder_identity == "a"
    assert b.link.writes == []
    await asyncio.sleep(1)
    assert b.has_ended


@pytest.mark.parametrize("kind", ["cut", "refuses"])
def test_a_leader_without_a_server_stops_writing_before_another_may_lead(kind: str) -> None:
    async def test(w: World) -> None:
        a, b = w.candidate("a").start(), w.candidate("b")
        await a.leads()
        b.start()
        await asyncio.sleep(31)
        renewed = max(each.sent for each in a.link.writes)
        setattr(a.link, kind, True)
        await asyncio.sleep(renewed + RENEW_DEADLINE - now() - 0.001)
        a.election.fence.check()
        assert not a.election.lost.is_set()
        await asyncio.sleep(0.002)
        assert a.election.lost.is_set()
        assert a.has_ended
        with pytest.raises(NotLeading, match=r"a does not hold the lease default/operator"):
            a.election.fence.check()
        await b.leads()
        assert now() >= renewed + LEASE_DURATION

    in_world(test)()


@in_world
async def test_a_server_that_is_away_for_less_than_the_deadline_changes_nothing(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    await asyncio.sleep(31)
    for link in (a.link, b.link):
        link.refuses = True
    await asyncio.sleep(RENEW_DEADLINE - RETRY_PERIOD - 0.2)
    for link in (a.link, b.link):
        link.refuses = False
    await asyncio.sleep(60)
    assert a.election.is_leader
    assert (await w.spec()).lease_transitions == 0


@in_world
async def test_after_a_server_that_was_away_for_longer_than_the_lease_one_leads(w: World) -> None:
    a, b, c = (w.candidate(name).start() for name in "abc")
    await a.leads()
    await asyncio.sleep(30)
    for each in (a, b, c):
        each.link.refuses = True
    await asyncio.sleep(3 * LEASE_DURATION)
    assert a.election.lost.is_set()
    for each in (a, b, c):
        each.link.refuses = False
    await asyncio.sleep(LEASE_DURATION + 2 * NEXT_LOOK)  # they may see the last renewal only now
    assert [each.election.is_leader for each in (a, b, c)].count(True) == 1
    assert not a.election.is_leader, "lost is lost for good"


@in_world
async def test_a_slow_server_is_borne_and_the_deadline_counts_from_when_a_renewal_was_sent(w: World) -> None:
    a = w.candidate("a").start()
    a.link.latency = (1.2, 1.2)  # one way: the first look and the creation take 2.4 s each
    assert await a.leads() == pytest.approx(4.8)
    assert a.election.fence.left == pytest.approx(RENEW_DEADLINE - 2.4)
    await asyncio.sleep(100)
    assert a.election.is_leader


@in_world
async def test_a_server_that_is_slower_than_all_patience_makes_no_leader(w: World) -> None:
    a = w.candidate("a").start()
    a.link.latency = (6.0, 6.0)
    await asyncio.sleep(200)
    assert a.led_from is None
    a.link.latency = (0.0, 0.0)
    assert await a.leads() <= NEXT_LOOK + 12.0


@in_world
async def test_clocks_set_back_and_forth_make_no_difference(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    for jump in (DAY, -2 * DAY, 400 * DAY, -DAY):
        await asyncio.sleep(20)
        a.clocks.set_by += jump
        await asyncio.sleep(20)
        b.clocks.set_by -= 2 * jump
    await asyncio.sleep(20)
    assert a.election.is_leader
    assert (await w.spec()).lease_transitions == 0
    crashed = now()
    await a.crash()
    await b.leads()
    assert now() - crashed <= LEASE_DURATION + NEXT_LOOK + 0.1 * RETRY_PERIOD


@in_world
async def test_time_in_which_the_machine_was_suspended_counts(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    await asyncio.sleep(31)
    written = len(a.link.writes)
    a.clocks.suspended += RENEW_DEADLINE
    assert not a.election.is_leader
    with pytest.raises(NotLeading):
        await a.write()
    assert len(a.link.writes) == written
    await asyncio.sleep(RETRY_PERIOD)
    assert a.election.lost.is_set()
    assert a.election.leader == "a", "it is still named, and leads no more"
    with pytest.raises(NotLeading):
        await a.write()


@in_world
async def test_others_who_write_the_lease_are_no_rivals(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    for number in range(200):
        patch = MergePatch({"metadata": {"annotations": {"seen": str(number)}}})
        await w.client.patch(coordination_v1.Lease, NAME, patch, namespace=NAMESPACE)
        await asyncio.sleep(0.3)
    assert a.election.is_leader
    assert any(each.status == 409 for each in a.link.writes)
    lease = await w.lease()
    assert lease.metadata.annotations == {"seen": "199"}
    assert lease.spec.lease_transitions == 0


@in_world
async def test_a_lease_that_somebody_else_has_taken_is_lost_at_the_next_renewal(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    await asyncio.sleep(30.5)
    patch = MergePatch({"spec": {"holderIdentity": "usurper", "renewTime": "2026-01-01T00:00:31.000000Z"}})
    await w.client.patch(coordination_v1.Lease, NAME, patch, namespace=NAMESPACE)
    await asyncio.sleep(RETRY_PERIOD)
    assert a.election.lost.is_set()
    assert a.election.leader == "usurper"
    with pytest.raises(NotLeading):
        a.election.fence.check()
    await a.election.release()
    assert await w.holder() == "usurper"


@in_world
async def test_a_deleted_lease_is_made_anew_by_its_holder_and_by_nobody_who_knows_of_it(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    await asyncio.sleep(30)
    a.link.latency = (0.5, 0.5)  # so that the standby looks first
    for _ in range(10):
        await w.client.delete(coordination_v1.Lease, NAME, namespace=NAMESPACE)
        await asyncio.sleep(14)
        assert await w.holder() == "a"
    assert b.led_from is None
    assert a.election.is_leader


@in_world
async def test_a_deleted_lease_whose_holder_is_gone_is_taken_when_its_time_is_up(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b")
    await a.leads()
    b.start()
    await asyncio.sleep(30)
    await a.crash()
    await w.client.delete(coordination_v1.Lease, NAME, namespace=NAMESPACE)
    assert LEASE_DURATION - RETRY_PERIOD <= await b.leads() <= LEASE_DURATION + 2 * NEXT_LOOK


@in_world
async def test_two_processes_with_one_name_do_not_both_lead(w: World) -> None:
    a, twin = w.candidate("same").start(), w.candidate("same")
    await a.leads()
    twin.start()
    await asyncio.sleep(60)
    assert twin.led_from is None
    assert a.election.is_leader


@pytest.mark.parametrize("there", [False, True])
def test_an_acquisition_whose_answer_got_lost_is_known_again(*, there: bool) -> None:
    async def test(w: World) -> None:
        if there:
            z = w.candidate("z").start()
            await z.leads()
            await z.election.release()
        a = w.candidate("a").start()
        a.link.answers_lost = 2
        assert await a.leads() < RENEW_DEADLINE + 2 * NEXT_LOOK, "it waited for the end of its own lease"
        assert a.link.answers_lost == 0
        assert (await w.spec()).lease_transitions == int(there)

    in_world(test)()


@in_world
async def test_a_renewal_whose_answer_got_lost_is_none(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    await asyncio.sleep(31)
    a.link.answers_lost = 1
    await asyncio.sleep(RETRY_PERIOD)
    assert a.link.writes[-1].status == 200
    assert a.election.fence.left == pytest.approx(RENEW_DEADLINE - 3)
    await asyncio.sleep(60)
    assert a.election.is_leader


@in_world
async def test_what_others_keep_in_the_lease_stays(w: World) -> None:
    lease = coordination_v1.Lease(spec=coordination_v1.LeaseSpec(preferred_holder="z"))
    lease.metadata.name, lease.metadata.namespace = NAME, NAMESPACE
    lease.metadata.labels = {"theirs": "yes"}
    await w.client.create(lease)
    a = w.candidate("a", labels={"ours": "yes"}).start()
    assert await a.leads() == 0.0
    found = await w.lease()
    assert found.metadata.labels == {"theirs": "yes", "ours": "yes"}
    assert found.spec.preferred_holder == "z"
    assert found.spec.lease_transitions == 1


@in_world
async def test_missing_rights_are_told_once_with_what_helps_and_waited_for(w: World) -> None:
    written = io.StringIO()
    a = w.candidate("a", log=new_log("json", stream=written)).start()
    a.link.forbids = True
    await asyncio.sleep(100)
    (line,) = written.getvalue().splitlines()
    assert "grant get, create and patch of leases in API group coordination.k8s.io and namespace default" in line
    assert a.election.leader is None
    a.link.forbids = False
    assert await a.leads() <= NEXT_LOOK
    assert '"msg":"leading"' in written.getvalue()


# what the leader writes


@in_world
async def test_nobody_but_the_leader_writes_and_each_write_says_who_made_it(w: World) -> None:
    a, b = w.candidate("a").start(), w.candidate("b").start()
    await a.leads()
    await a.write()
    with pytest.raises(NotLeading, match="b does not hold"):
        await b.write()
    assert all("configmaps" not in each.request.path for each in b.link.landed)
    (work,) = [each.request for each in a.link.writes if "configmaps" in each.request.path]
    assert work.headers["user-agent"] == "kubewright/a"
    assert ("timeout", "5000ms") in work.query
    assert ("fieldManager", "operator") in work.query
    assert (await b.client.list(coordination_v1.Lease, namespace=NAMESPACE)) != [], "reads are free"


@in_world
async def test_a_write_that_takes_longer_than_a_successor_would_wait_is_given_up(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    started = now()
    a.link.cut = True
    with pytest.raises(TransportError, match="no answer within the 5 s") as caught:
        await a.write()
    assert caught.value.may_be_applied
    assert now() - started == pytest.approx(WRITE_TIMEOUT)


@in_world
async def test_a_write_is_not_tried_again_after_the_deadline(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    a.link.refuses = True
    await asyncio.sleep(RENEW_DEADLINE - 0.05)
    with pytest.raises(NotLeading):  # the first try fails to connect, the second comes too late
        await a.write()


@in_world
async def test_the_lease_is_released_when_nothing_can_land_any_more(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    a.link.latency = (1.0, 1.0)
    cut_off = asyncio.ensure_future(a.write())
    await asyncio.sleep(0.5)
    cut_off.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut_off
    a.link.latency = (0.0, 0.0)
    started = now()
    await a.election.release()
    assert now() - started == pytest.approx(WRITE_TIMEOUT - 0.5)
    assert await w.holder() == ""


@in_world
async def test_releasing_without_a_server_ends_soon(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    a.link.cut = True
    started = now()
    await a.election.release()
    assert now() - started <= RENEW_DEADLINE / 2
    assert await w.holder() == "a"


@in_world
async def test_a_fence_that_was_closed_stays_closed(w: World) -> None:
    a = w.candidate("a").start()
    await a.leads()
    await a.crash()
    a.election.fence.extend(now() + 100)
    with pytest.raises(NotLeading):
        await a.write()
