"""`Step`: one part of a workflow, which applies objects or checks something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar, cast

from msgspec import Struct

from kubewright.api import Resource, describe, resource_info
from kubewright.api.callables import is_async, takes
from kubewright.api.cancellation import called_apart
from kubewright.api.names import check_dns_label
from kubewright.controller.context import Context
from kubewright.controller.writes import IntentKey
from kubewright.telemetry import shown

__all__ = ["STEP", "Claims", "NotReady", "Step", "Verdict"]

STEP = "kubewright.dev/step"
"""The annotation by which an object says which step applied it, so that it is known when the step is no longer wanted."""


class NotReady(Struct, frozen=True):
    """Not yet, and why: ``return ready == wanted or NotReady(f"{ready}/{wanted} replicas are ready")``."""

    message: str

    def __bool__(self) -> bool:
        return False


Verdict: TypeAlias = bool | NotReady
Claims: TypeAlias = dict[IntentKey, str]
"""Which step applies what in a run."""

P = TypeVar("P", bound=Resource)
P_contra = TypeVar("P_contra", bound=Resource, contravariant=True)
T = TypeVar("T", bound=Resource | Sequence[Resource])


class Step(Generic[P_contra]):
    """A named part of a workflow; made with `Step.apply` or `Step.check`.

    Functions are plain ones, which get the object that is reconciled, or ``async def`` ones, which get the `Context` too,
    to read what they need. All of them run again at each run of the workflow: nothing is remembered.
    """

    def __init__(
        self,
        name: str,
        carry_out: Callable[[P_contra, Context[Any], Claims], Awaitable[Verdict]],
        *,
        after: Sequence[str],
        when: Callable[..., object] | None,
        wait_until_gone: bool = False,
    ) -> None:
        check_dns_label(name, what="a step's name")
        if isinstance(after, str) or not isinstance(after, Iterable):
            given, example = (f'"{after}"', after) if isinstance(after, str) else (repr(after), "deployment")
            raise TypeError(f'step {name!r}: after={given} is no list of names: write after=["{example}"]')
        self.name = name
        self.after = tuple(dict.fromkeys(after))
        self.wait_until_gone = wait_until_gone
        self._carry_out = carry_out
        self._when = None if when is None else _checked(when, name, "when")

    @staticmethod
    def apply(
        name: str,
        desired: Callable[[P], T] | Callable[[P, Context[Any]], Awaitable[T]],
        *,
        after: Sequence[str] = (),
        when: Callable[[P], bool] | Callable[[P, Context[Any]], Awaitable[bool]] | None = None,
        ready: Callable[[T], Verdict] | None = None,
        wait_until_gone: bool = False,
    ) -> Step[P]:
        """Applies the object, or the list or tuple of objects, that ``desired`` gives.

        ``after``: the steps that must be done before. ``when``: whether the step is wanted at all (default: always); while
        it is not, what it applied earlier is deleted, and so is what the steps after it applied. ``ready``: gets what
        was applied, as the server has it, and says whether the steps after it may go on. ``wait_until_gone``: when it is
        torn down, the steps before it wait until its objects, and all that belongs to them, are gone, not only until
        their deletion was asked for.

        ``name`` is a DNS label. It is written on the objects (`STEP`), so renaming a step tears nothing down.
        """
        function = _checked(desired, name, "desired")
        if ready is not None:
            _check_ready(ready, name)

        async def carry_out(obj: P, ctx: Context[Any], claims: Claims) -> Verdict:
            wanted = cast("T", await function(obj, ctx))
            applied = [await _apply(each, name, ctx, claims) for each in _each(wanted, name)]
            if ready is None:
                return True
            given = (
                applied[0] if isinstance(wanted, Resource) else applied if isinstance(wanted, list) else tuple(applied)
            )
            return _verdict(ready(cast("T", given)), f"ready of step {name!r}")

        return Step(name, carry_out, after=after, when=when, wait_until_gone=wait_until_gone)

    @staticmethod
    def check(
        name: str,
        holds: Callable[[P], Verdict] | Callable[[P, Context[Any]], Awaitable[Verdict]],
        *,
        after: Sequence[str] = (),
        when: Callable[[P], bool] | Callable[[P, Context[Any]], Awaitable[bool]] | None = None,
    ) -> Step[P]:
        """Lets the steps after it go on once ``holds`` says so. ``after`` and ``when`` are as in `apply`.

        What it looks at should wake the controller when it changes; a check that has to look again by itself raises
        `Requeue`.
        """
        function = _checked(holds, name, "holds")

        async def carry_out(obj: P, ctx: Context[Any], claims: Claims) -> Verdict:  # noqa: ARG001 - it applies nothing
            return _verdict(await function(obj, ctx), f"step {name!r}")

        return Step(name, carry_out, after=after, when=when)

    async def is_wanted(self, obj: P_contra, ctx: Context[Any]) -> bool:
        if self._when is None:
            return True
        wanted = await self._when(obj, ctx)
        if not isinstance(wanted, bool):
            raise TypeError(f"when of step {self.name!r} returned {shown(wanted)}: it must return True or False")
        return wanted

    async def carry_out(self, obj: P_contra, ctx: Context[Any], claims: Claims) -> Verdict:
        return await self._carry_out(obj, ctx, claims)


class _Function(Struct, frozen=True):
    """A step's function, and whether it is an ``async def`` one: asking each time would take longer than most of them."""

    function: Callable[..., object]
    asynchronous: bool

    async def __call__(self, obj: Resource, ctx: Context[Any]) -> object:
        if self.asynchronous:
            return await called_apart(partial(cast("Callable[..., Awaitable[object]]", self.function), obj, ctx))
        return self.function(obj)


def _checked(function: Callable[..., object], step: str, what: str) -> _Function:
    given: tuple[str, ...]
    asynchronous = is_async(function)
    if asynchronous:
        given, remedy = ("the object", "the context"), "as every `async def` function of a step"
    else:
        given, remedy = (
            ("the object",),
            "and nothing else; make it an `async def` function for it to get the context too",
        )
    if not takes(function, len(given)):
        raise TypeError(f"step {step!r}: {what} must take {' and '.join(given)}, {remedy}")
    return _Function(function, asynchronous)


def _check_ready(ready: Callable[..., object], step: str) -> None:
    remedy = "a plain function of what was applied"
    if not callable(ready) or is_async(ready):
        raise TypeError(
            f"step {step!r}: ready must be {remedy}; to await something, make it a Step.check after this one"
        )
    if not takes(ready, 1):
        raise TypeError(f"step {step!r}: ready must be {remedy}, and take nothing else")


def _each(wanted: object, step: str) -> Sequence[Resource]:
    objects = [wanted] if isinstance(wanted, Resource) else wanted
    if not isinstance(objects, list | tuple) or not all(isinstance(each, Resource) for each in objects):
        raise TypeError(
            f"step {step!r} wants {shown(wanted)} applied: it must return an object, or a list or tuple of objects; to have "
            "none at times, give it a when=…"
        )
    return objects


async def _apply(obj: Resource, step: str, ctx: Context[Any], claims: Claims) -> Resource:
    info = resource_info(type(obj))
    namespace = (obj.metadata.namespace or ctx.request.namespace or "") if info.namespaced else ""
    other = claims.get(key := (info.qualified_plural, namespace, obj.name))
    if other == step:
        raise ValueError(f"step {step!r} applies {describe(obj)} twice: each would set back what the other says")
    if other is not None:
        raise ValueError(f"steps {other!r} and {step!r} both apply {describe(obj)}: leave it to one of them")
    claims[key] = step
    obj.metadata.annotations = {**(obj.metadata.annotations or {}), STEP: step}
    return await ctx.apply(obj)


def _verdict(verdict: object, what: str) -> Verdict:
    if isinstance(verdict, bool | NotReady):
        return verdict
    raise TypeError(f"{what} returned {shown(verdict)}: it must return True, False or NotReady(…)")
