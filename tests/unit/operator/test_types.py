"""What the type checkers make of the decorators: checked with ``make lint``, where each ``error:`` must be one.

mypy tells of an ``ignore`` that nothing needs, so a mistake that is no longer found fails there; pyright goes by
``reportUnnecessaryTypeIgnoreComment``, below.
"""

# pyright: strict, reportUnusedFunction=false, reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import assert_type

from kubewright import Client, Context, Operator, Request, Resource, Result, Watch, resource
from kubewright.controller import BlockingContext, any_owner, changed, cron, every, generation_changed, labels_changed
from kubewright.kinds import core_v1


@resource("example.com/v1")
class Thing(Resource):
    size: int = 1


class Cloud:
    region = "north"


@asynccontextmanager
async def cloud(client: Client) -> AsyncGenerator[Cloud]:
    yield Cloud()


def test_what_is_right_passes_the_checkers_and_is_registered() -> None:
    operator = Operator("things")

    @operator.controller(Thing, owns=[core_v1.ConfigMap], watches=[every(60), cron("@daily")], name="a")
    async def a(thing: Thing, ctx: Context) -> Result | None:
        return Result(requeue_after=thing.size)

    @operator.controller(Thing, when=generation_changed | labels_changed & ~changed(".spec.size"), name="b")
    async def b(thing: Resource, ctx: Context) -> None: ...

    @operator.controller(Thing, threads=True, name="c")
    def c(thing: Thing, ctx: BlockingContext) -> None:
        assert_type(ctx.get(core_v1.Pod, "x"), core_v1.Pod | None)

    @operator.controller(Thing, keys=True, name="d")
    async def d(request: Request, ctx: Context) -> None: ...

    @operator.controller(Thing, keys=True, threads=True, name="e")
    def e(request: Request, ctx: BlockingContext) -> Result | None: ...

    class F:
        async def reconcile(self, thing: Thing, ctx: Context) -> None: ...

    operator.controller(Thing, name="f")(F())

    def of_pod(pod: core_v1.Pod) -> Iterable[Request]:
        return [Request.of(pod)]

    async def slowly(pod: core_v1.Pod) -> Iterable[Request]:
        return [Request.of(pod)]

    operator.controller(
        Thing,
        watches=[
            Watch(core_v1.Pod, to=of_pod),
            Watch(core_v1.Pod, to=slowly),
            Watch(core_v1.Secret, to=any_owner(Thing), metadata_only=True),
        ],
        name="g",
    )(b)

    @operator.finalizer(Thing, name="example.com/a")
    async def finalize(thing: Thing, ctx: Context) -> None: ...

    @operator.finalizer(Thing, name="example.com/b", threads=True)
    def finalize_in_a_thread(thing: Thing, ctx: BlockingContext) -> None: ...

    assert [spec.name for spec in operator.controllers] == list("abcdefg")


def test_a_lifespan_gives_the_context_its_type() -> None:
    operator = Operator("things", lifespan=cloud)
    assert_type(operator, Operator[Cloud])

    @operator.controller(Thing, name="typed")
    async def typed(thing: Thing, ctx: Context[Cloud]) -> None:
        assert_type(ctx.state, Cloud)

    @operator.controller(Thing, name="plain")
    async def plain(thing: Thing, ctx: Context) -> None:
        assert_type(ctx.state, object)

    @operator.controller(Thing, threads=True, name="blocking")
    def blocking(thing: Thing, ctx: BlockingContext[Cloud]) -> None:
        assert_type(ctx.state.region, str)

    assert len(operator.controllers) == 3


def mistakes() -> None:
    """For the checkers alone; nothing calls it."""
    operator = Operator("things")

    @operator.controller(Thing)  # type: ignore[arg-type]
    async def another_kind(pod: core_v1.Pod, ctx: Context) -> None: ...

    @operator.controller(Thing)  # type: ignore[arg-type]
    async def a_wrong_result(thing: Thing, ctx: Context) -> int:
        return 1

    @operator.controller(Thing)  # type: ignore[arg-type]
    async def no_context(thing: Thing) -> None: ...

    @operator.controller(Thing)  # type: ignore[arg-type]
    def no_threads(thing: Thing, ctx: Context) -> None: ...

    @operator.controller(Thing, threads=True)  # type: ignore[arg-type]
    async def threads(thing: Thing, ctx: Context) -> None: ...

    @operator.controller(Thing, keys=True)  # type: ignore[arg-type]
    async def no_request(thing: Thing, ctx: Context) -> None: ...

    @operator.controller(Thing)  # type: ignore[arg-type]
    async def no_state(thing: Thing, ctx: Context[Cloud]) -> None: ...

    class Plain:
        def reconcile(self, thing: Thing, ctx: Context) -> None: ...

    operator.controller(Thing)(Plain())  # type: ignore[arg-type]
    operator.controller(Thing, own=[core_v1.Pod])  # type: ignore[call-overload]
    operator.controller(Thing, workers="4")  # type: ignore[call-overload]
    operator.controller(Thing, watches=["Pod"])  # type: ignore[list-item]

    def of_pod(pod: core_v1.Pod) -> Iterable[Request]:
        return [Request.of(pod)]

    Watch(core_v1.Node, to=of_pod)  # type: ignore[arg-type]


def test_an_operator_with_a_state_is_an_operator() -> None:
    def takes_any(operator: Operator) -> str:
        return operator.name

    assert takes_any(Operator("things", lifespan=cloud)) == "things"
