"""What every object of the Kubernetes API is made of. No I/O.

Start with `resource` (a kind as a class), `Model` (everything inside it) and `markers` (what the schema says beyond
types); `codec` turns them into JSON and back.
"""

from kubewright.api.clock import Clock, LoopClock, SystemClock
from kubewright.api.codec import DecodeError, convert, declared_types, decode, encode, split_list, to_dict
from kubewright.api.conditions import Conditions
from kubewright.api.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServerTimeout,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
    api_error,
)
from kubewright.api.meta import (
    Condition,
    LabelSelector,
    LabelSelectorRequirement,
    ListMeta,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
    Status,
    StatusCause,
    StatusDetails,
)
from kubewright.api.model import Model, field
from kubewright.api.owners import AlreadyOwned, controller_of, owner_reference, set_controller
from kubewright.api.resource import (
    Column,
    GroupVersionKind,
    Resource,
    ResourceInfo,
    Scale,
    describe,
    resource,
    resource_info,
)
from kubewright.api.scalars import JSON, Int32, Int64, IntOrString, MicroTime, Quantity, Time, micro_time, whole_seconds
from kubewright.api.scheme import Scheme
from kubewright.api.selectors import FieldSelector, Selector, SelectorError

__all__ = [
    "JSON",
    "AlreadyExists",
    "AlreadyOwned",
    "ApiError",
    "BadRequest",
    "Clock",
    "Column",
    "Condition",
    "Conditions",
    "Conflict",
    "DecodeError",
    "FieldSelector",
    "Forbidden",
    "Gone",
    "GroupVersionKind",
    "Int32",
    "Int64",
    "IntOrString",
    "Invalid",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ListMeta",
    "LoopClock",
    "ManagedFieldsEntry",
    "MethodNotAllowed",
    "MicroTime",
    "Model",
    "NotFound",
    "ObjectMeta",
    "OwnerReference",
    "Quantity",
    "Resource",
    "ResourceInfo",
    "Scale",
    "Scheme",
    "Selector",
    "SelectorError",
    "ServerTimeout",
    "Status",
    "StatusCause",
    "StatusDetails",
    "SystemClock",
    "Time",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
    "api_error",
    "controller_of",
    "convert",
    "declared_types",
    "decode",
    "describe",
    "encode",
    "field",
    "micro_time",
    "owner_reference",
    "resource",
    "resource_info",
    "set_controller",
    "split_list",
    "to_dict",
    "whole_seconds",
]
