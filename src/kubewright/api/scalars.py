"""The scalar types of Kubernetes' wire format, as annotations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from kubewright.api.markers import Format, IntOrStringFormat, Pattern

__all__ = ["JSON", "Int32", "Int64", "IntOrString", "MicroTime", "Quantity", "Time", "micro_time", "whole_seconds"]

Int32: TypeAlias = Annotated[int, Format("int32")]
Int64: TypeAlias = Annotated[int, Format("int64")]

IntOrString: TypeAlias = Annotated[int | str, IntOrStringFormat()]
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
Quantity: TypeAlias = Annotated[
    str | int | float,
    IntOrStringFormat(),
    Pattern(rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"),
]
"""A resource quantity such as ``"500m"`` or ``"10Gi"``; the server also accepts plain numbers."""

Time: TypeAlias = Annotated[datetime, Format("date-time")]
"""RFC 3339 with whole seconds; always timezone-aware."""

MicroTime: TypeAlias = Annotated[str, Format("date-time")]
"""RFC 3339 with exactly six fractional digits, which the server insists on; make one with `micro_time`."""

if TYPE_CHECKING:
    JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None
else:
    JSON = Any  # a recursive alias means nothing to the decoder


def micro_time(moment: datetime) -> MicroTime:
    """``moment`` as a `MicroTime`, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def whole_seconds(moment: datetime) -> datetime:
    """``moment`` as the server keeps it: UTC, whole seconds."""
    return moment.astimezone(UTC).replace(microsecond=0)
