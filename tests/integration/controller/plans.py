"""A kind whose objects say what the steps of a workflow do, for tests of workflows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from kubewright import Condition, Context, Model, ObjectMeta, Operator, Resource, field, resource
from kubewright.api.markers import ListMap
from kubewright.controller.workflow import NotReady, Outcome, Step, Workflow
from kubewright.kinds import core_v1
from kubewright.testing import Harness

__all__ = [
    "PLAN",
    "Plan",
    "PlanSpec",
    "condition",
    "config_map",
    "configs",
    "hold",
    "plan",
    "raising",
    "running",
    "say",
    "step",
    "written",
]


class PlanSpec(Model):
    off: list[str] = field(default_factory=list)
    """Steps that are not wanted."""
    unready: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Steps that fail."""
    text: str = ""


class PlanStatus(Model):
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource("example.com/v1")
class Plan(Resource):
    spec: PlanSpec = field(default_factory=PlanSpec)
    status: PlanStatus = field(default_factory=PlanStatus)


def plan(*, off: Sequence[str] = (), unready: Sequence[str] = (), broken: Sequence[str] = ()) -> Plan:
    spec = PlanSpec(off=list(off), unready=list(unready), broken=list(broken))
    return Plan(metadata=ObjectMeta(name="plan"), spec=spec)


PLAN = plan()
"""To name it."""


def config_map(name: str, plan: Plan) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data={"text": plan.spec.text})


def step(name: str, *after: str, wait_until_gone: bool = False) -> Step[Plan]:
    """Applies a ConfigMap of the step's name; is not wanted, not ready, or fails as the plan says."""
    seen: list[Plan] = []

    def desired(plan: Plan) -> core_v1.ConfigMap:
        seen[:] = [plan]
        if name in plan.spec.broken:
            raise LookupError(f"{name} is broken")
        return config_map(name, plan)

    def ready(applied: core_v1.ConfigMap) -> bool | NotReady:
        assert applied.uid
        return name not in seen[0].spec.unready or NotReady("not yet")

    def wanted(plan: Plan) -> bool:
        return name not in plan.spec.off

    return Step.apply(name, desired, after=after, when=wanted, ready=ready, wait_until_gone=wait_until_gone)


async def configs(here: Harness) -> set[str]:
    """The names of the ConfigMaps that are there."""
    return {found.name for found in await here.list(core_v1.ConfigMap)} - {"kube-root-ca.crt"}


async def say(here: Harness, *, text: str | None = None, **spec: Sequence[str]) -> None:
    """Edits the plan: steps that are ``off``, ``unready`` or ``broken``."""

    def change(plan: Plan) -> None:
        for name in ("off", "unready", "broken"):
            setattr(plan.spec, name, list(spec.get(name, ())))
        plan.spec.text = plan.spec.text if text is None else text

    await here.client.edit(Plan, "plan", change, namespace=here.namespace)


def running(*steps: Step[Plan], **more: Any) -> tuple[Operator, list[Outcome]]:
    """An operator that runs these steps, and what came of it each time."""
    operator, flow, outcomes = Operator("plans"), Workflow(*steps, condition="Ready"), list[Outcome]()

    @operator.controller(Plan, owns=[core_v1.ConfigMap, core_v1.Secret], **more)
    async def reconcile(plan: Plan, ctx: Context) -> None:
        outcomes.append(await flow.run(plan, ctx))

    return operator, outcomes


async def condition(here: Harness) -> tuple[str, str, str]:
    found = (await here.get(Plan, "plan")).status.conditions
    ready = next(each for each in found if each.type == "Ready")
    return ready.status, ready.reason, ready.message


def written(here: Harness) -> list[str]:
    """What was done to ConfigMaps, such as ``apply a``."""
    calls = [sent.call for sent in here.writes if sent.call.resource == "configmaps"]
    return [f"{call.verb} {call.name}" for call in calls]


async def hold(here: Harness, name: str, *finalizers: str) -> None:
    """Keeps a ConfigMap from going while there are finalizers."""

    def change(found: core_v1.ConfigMap) -> None:
        found.metadata.finalizers = list(finalizers)

    await here.client.edit(core_v1.ConfigMap, name, change, namespace=here.namespace)


def raising(name: str, error: Callable[[], BaseException]) -> Step[Plan]:
    async def fail(plan: Plan, ctx: Context) -> bool:
        raise error()

    return Step.check(name, fail)
