"""Status: one write, of what the run changed, over nobody else's change."""

from __future__ import annotations

import pytest

from kubewright import Condition, Context, ObjectMeta, Operator, Requeue, TerminalError
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.operator.working import Gadget, GadgetSpec, World, gone, try_out

pytestmark = pytest.mark.servers("embedded", "1.36")  # 1.20 is not the truth about server-side apply


def status_writes(lines: list[str]) -> int:
    return len([line for line in lines if line.endswith("/status")])


def test_conditions_of_several_owners_survive_each_other_and_conflicts_are_replayed(
    server: Server, namespace: str
) -> None:
    operator = Operator("gadgets")

    async def test(here: World) -> None:
        @operator.controller(Gadget)
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            if not gadget.status.seen:

                def others(live: Gadget) -> None:
                    live.status.note = "theirs"
                    live.status.conditions.append(
                        Condition(
                            type="Theirs", status="True", reason="Said", message="", last_transition_time=ctx.now()
                        )
                    )

                await here.client.edit(Gadget, gadget.name, others, namespace=namespace, subresource="status")
            ctx.conditions.set("Ready", True, reason="Fine")
            gadget.status.seen = gadget.spec.size
            gadget.status.observed_generation = gadget.metadata.generation

        await here.create(size=3)
        async with here.at_work(operator) as work:
            gadget = await here.until(lambda gadget: gadget.status.seen == 3)
            assert {each.type for each in gadget.status.conditions} == {"Ready", "Theirs"}
            assert gadget.status.note == "theirs"
            await work.quiet(0.3)
            assert status_writes(work.writes) == 2  # refused, and replayed
            assert work.said("reconcile failed") == work.said("overtaken by another change") == []

    try_out(server, namespace, test)


def test_three_tries_and_then_another_run(server: Server, namespace: str) -> None:
    operator, overtaken = Operator("gadgets"), list[int]()

    async def test(here: World) -> None:
        @operator.controller(Gadget)
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            gadget.status.seen = gadget.spec.size

        await here.create(size=3)
        async with here.at_work(operator) as work:
            rest = work.manager.client.rest
            patch = rest.patch

            async def late(*arguments: object, **options: object) -> bytes:
                if options.get("subresource") == "status" and len(overtaken) < 4:
                    overtaken.append(1)

                    def note(live: Gadget) -> None:
                        live.status.note = f"{len(overtaken)}"

                    await here.client.edit(Gadget, "g", note, namespace=namespace, subresource="status")
                return await patch(*arguments, **options)  # type: ignore[arg-type]

            rest.patch = late  # type: ignore[method-assign]
            await here.resize(4)
            gadget = await here.until(lambda gadget: gadget.status.seen == 4)
            assert gadget.status.note == "4"
            assert work.said("reconcile failed") == []

    try_out(server, namespace, test)


def test_an_object_deleted_and_created_again_during_a_run_gets_no_status_of_it(server: Server, namespace: str) -> None:
    operator, runs = Operator("gadgets"), list[int]()

    async def test(here: World) -> None:
        @operator.controller(Gadget)
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            runs.append(gadget.spec.size)
            if gadget.spec.size == 1:
                await here.client.delete(Gadget, gadget.name, namespace=namespace)
                metadata = ObjectMeta(name=gadget.name, namespace=namespace)
                await here.client.create(Gadget(metadata=metadata, spec=GadgetSpec(size=2)))
                gadget.status.seen = 1

        await here.create(size=1)
        async with here.at_work(operator) as work:
            await eventually(lambda: _ran(runs, 2))
            await work.quiet(0.3)
            assert (await here.gadget()).status.seen is None
            assert work.said("reconcile failed") == []

    try_out(server, namespace, test)


async def _ran(runs: list[int], size: int) -> bool:
    return size in runs


def test_an_object_that_is_gone_at_the_end_of_the_run_is_no_failure(server: Server, namespace: str) -> None:
    operator, runs = Operator("gadgets"), list[int]()

    async def test(here: World) -> None:
        @operator.controller(Gadget)
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            runs.append(1)
            await here.client.delete(Gadget, gadget.name, namespace=namespace)
            gadget.status.seen = 1

        await here.create()
        async with here.at_work(operator) as work:
            await eventually(lambda: _ran(runs, 1))
            await work.quiet(0.3)
            assert work.said("reconcile failed") == []

    try_out(server, namespace, test)


def test_a_failed_run_shows_and_has_observed_nothing_and_the_next_good_one_clears_it(
    server: Server, namespace: str
) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget)
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        gadget.status.seen = gadget.spec.size
        gadget.status.observed_generation = gadget.metadata.generation
        ctx.conditions.set("Ready", gadget.spec.size != 2, reason="Said")
        if gadget.spec.size == 2:
            raise RuntimeError("no disk")
        if gadget.spec.size == 3:
            raise TerminalError("3 can't work")

    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(operator) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await here.resize(2)
            failed = await here.until(lambda gadget: gadget.status.seen == 2)
            found = {each.type: each for each in failed.status.conditions}
            assert found["Reconciling"].reason == "RetryAfterError"
            assert found["Reconciling"].message == "RuntimeError: no disk"
            assert failed.status.observed_generation == found["Ready"].observed_generation == 1
            assert found["Ready"].status == "False"
            await here.resize(3)
            stalled = await here.until(lambda gadget: gadget.status.seen == 3)
            assert {each.type for each in stalled.status.conditions} == {"Ready", "Stalled"}
            await here.resize(4)
            good = await here.until(lambda gadget: gadget.status.seen == 4)
            assert {each.type for each in good.status.conditions} == {"Ready"}
            assert good.status.observed_generation == good.status.conditions[0].observed_generation == 4
            await work.quiet(0.2)

    try_out(server, namespace, test)


def test_requeue_raised_is_no_failure_and_keeps_the_status(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget)
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        gadget.status.seen = gadget.spec.size
        gadget.status.observed_generation = gadget.metadata.generation
        raise Requeue(100)

    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(operator):
            gadget = await here.until(lambda gadget: gadget.status.seen == 1)
            assert gadget.status.observed_generation == 1
            assert gadget.status.conditions == []

    try_out(server, namespace, test)


def test_a_clean_up_shows_how_far_it_is_while_its_object_is_there(server: Server, namespace: str) -> None:
    operator, done = Operator("gadgets"), list[bool]()

    @operator.controller(Gadget)
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        gadget.status.seen = gadget.spec.size

    @operator.finalizer(Gadget, name="conformance.example.com/drain")
    async def drain(gadget: Gadget, ctx: Context) -> None:
        gadget.status.note = "draining"
        ctx.conditions.set("Deleting", True, reason="Draining")
        if not done:
            raise Requeue(0.2)

    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(operator) as work:
            gadget = await here.until(lambda gadget: gadget.status.seen == 1)
            await work.quiet(0.3)
            before = status_writes(work.writes)
            await here.client.delete(gadget)
            gadget = await here.until(lambda gadget: gadget.status.note == "draining")
            assert [each.type for each in gadget.status.conditions] == ["Deleting"]
            await work.quiet(0.5)
            assert status_writes(work.writes) == before + 1
            done.append(True)
            await gone(lambda: here.is_there(Gadget, "g"))
            assert status_writes(work.writes) == before + 1
            assert work.said("reconcile failed") == []

    try_out(server, namespace, test)
