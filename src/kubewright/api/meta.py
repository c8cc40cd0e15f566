"""The parts of apimachinery's ``meta/v1`` that every object carries."""

from __future__ import annotations

from typing import Annotated, Literal

from kubewright.api.markers import Enum, ListAtomic, MaxLength, Minimum, MinLength, Pattern
from kubewright.api.model import Model, field
from kubewright.api.scalars import JSON, Int32, Int64, Time

__all__ = [
    "Condition",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ListMeta",
    "ManagedFieldsEntry",
    "ObjectMeta",
    "OwnerReference",
    "Status",
    "StatusCause",
    "StatusDetails",
]


class OwnerReference(Model):
    """Ties an object's life to its owner's; garbage collection follows it."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Model):
    """What one field manager owns (https://kubernetes.io/docs/reference/using-api/server-side-apply/)."""

    manager: str | None = None
    operation: str | None = None
    api_version: str | None = None
    time: Time | None = None
    fields_type: str | None = None
    fields_v1: dict[str, JSON] | None = field(default=None, name="fieldsV1")
    subresource: str | None = None


class ObjectMeta(Model):
    """Name, identity and bookkeeping of an object."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: Int64 | None = None
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    managed_fields: list[ManagedFieldsEntry] | None = None
    self_link: str | None = None


class ListMeta(Model):
    resource_version: str | None = None
    continue_: str | None = field(default=None, name="continue")
    remaining_item_count: Int64 | None = None
    self_link: str | None = None


_CONDITION_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)


class Condition(Model):
    """One aspect of an object's state (KEP-1623); `lastTransitionTime` moves when `status` flips, and only then."""

    type: Annotated[str, Pattern(_CONDITION_TYPE), MaxLength(316)]
    status: Annotated[str, Enum("True", "False", "Unknown")]
    reason: Annotated[str, MinLength(1), MaxLength(1024), Pattern(r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")]
    message: Annotated[str, MaxLength(32768)]
    last_transition_time: Time
    observed_generation: Annotated[Int64, Minimum(0)] | None = None


class LabelSelectorRequirement(Model):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[list[str], ListAtomic()] | None = None


class LabelSelector(Model):
    """Which labels an object must have; the empty selector matches everything."""

    match_labels: dict[str, str] | None = None
    match_expressions: Annotated[list[LabelSelectorRequirement], ListAtomic()] | None = None


class StatusCause(Model):
    """One field that was refused, and why."""

    reason: str | None = None
    message: str | None = None
    field: str | None = None


class StatusDetails(Model):
    name: str | None = None
    group: str | None = None
    kind: str | None = None
    uid: str | None = None
    causes: list[StatusCause] | None = None
    retry_after_seconds: Int32 | None = None


class Status(Model):
    """What the server answers when it has no object to answer with."""

    metadata: ListMeta | None = None
    status: str | None = None
    message: str | None = None
    reason: str | None = None
    details: StatusDetails | None = None
    code: Int32 | None = None
