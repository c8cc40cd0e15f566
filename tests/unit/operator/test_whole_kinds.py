"""How much of each kind is cached follows from the declaration, and so do the rights."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright import Context, Operator, Resource, Watch, Whole, owner_label, resource
from kubewright.cache import METADATA, WHOLE, Projection
from kubewright.kinds import core_v1
from kubewright.manifests import policy_rules


@resource("example.com/v1")
class Thing(Resource): ...


@resource("v1", kind="Secret", plural="secrets")
class OwnSecret(Resource):
    """Another class for the kind."""


async def reconcile(_thing: Any, _ctx: Context) -> None: ...


def watch(kind: type[Resource], *, metadata_only: bool | None = None) -> Watch[Any]:
    return Watch(kind, to=owner_label("thing"), metadata_only=metadata_only)


@pytest.mark.parametrize(
    ("declared", "kind", "expected"),
    [
        ({"reads": [core_v1.Secret]}, core_v1.Secret, METADATA),
        ({"owns": [core_v1.ConfigMap]}, core_v1.ConfigMap, METADATA),
        ({"watches": [watch(core_v1.Secret)]}, core_v1.Secret, METADATA),
        ({"reads": [OwnSecret]}, OwnSecret, METADATA),
        ({"reads": [core_v1.Pod]}, core_v1.Pod, WHOLE),
        ({"reads": [Whole(core_v1.Secret)]}, core_v1.Secret, WHOLE),
        ({"owns": [Whole(core_v1.ConfigMap)]}, core_v1.ConfigMap, WHOLE),
        ({"reads": [Whole(OwnSecret)], "owns": [core_v1.Secret]}, core_v1.Secret, WHOLE),
        ({"watches": [watch(core_v1.Secret, metadata_only=False)]}, core_v1.Secret, WHOLE),
        ({"watches": [watch(core_v1.Pod, metadata_only=True)]}, core_v1.Pod, METADATA),
        ({"watches": [watch(core_v1.Pod, metadata_only=True)], "reads": [core_v1.Pod]}, core_v1.Pod, WHOLE),
    ],
)
def test_as_much_is_cached_as_the_declaration_relies_on(
    declared: dict[str, Any], kind: type[Resource], expected: Projection
) -> None:
    operator = Operator("things")
    operator.controller(Thing, **declared)(reconcile)
    assert operator.controllers[0].projection(kind) == expected


def test_what_is_reconciled_is_cached_whole() -> None:
    operator = Operator("secrets")
    operator.controller(core_v1.Secret)(reconcile)
    assert operator.controllers[0].projection(core_v1.Secret) == WHOLE


@pytest.mark.parametrize("whole", [False, True])
def test_either_way_they_may_be_listed_watched_and_read(*, whole: bool) -> None:
    operator = Operator("things")
    kind: Any = Whole(core_v1.Secret) if whole else core_v1.Secret
    operator.controller(Thing, reads=[kind])(reconcile)
    (rule,) = (rule for rule in policy_rules(operator) if rule.resources == ["secrets"])
    assert rule.verbs == ["get", "list", "watch"]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"owns": [Whole(int)]}, "owns: <class 'int'> is no kind"),  # type: ignore[type-var]
        ({"prune": [Whole(core_v1.Secret)]}, r"prune: Whole\(.*\) is no kind"),
        ({"reads": Whole(core_v1.Secret)}, r"reads is Whole\(.*\): give a list of kinds"),
    ],
)
def test_what_can_not_be_whole_is_refused(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Operator("things").controller(Thing, **declared)
