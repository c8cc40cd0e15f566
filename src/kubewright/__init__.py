"""Typed, level-triggered Kubernetes operators in Python.

The names of daily use are here, loaded when first used; each belongs to a package whose docstring tells more
(`kubewright.api`, `kubewright.controller`, `kubewright.operator`, …).
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # checkers go by the name; loading `typing` for it takes longer than all of this

if TYPE_CHECKING:
    from kubewright.api import (
        ApiError,
        Column,
        Condition,
        Conflict,
        Int32,
        Int64,
        IntOrString,
        Invalid,
        LabelSelector,
        Model,
        NotFound,
        ObjectMeta,
        OwnerReference,
        Quantity,
        Resource,
        Scale,
        Selector,
        Time,
        field,
        resource,
    )
    from kubewright.client import Client
    from kubewright.controller import (
        Backoff,
        BlockingContext,
        Channel,
        Context,
        Request,
        Requeue,
        Result,
        TerminalError,
        Watch,
        Whole,
        cron,
        every,
        owner,
        owner_label,
    )
    from kubewright.operator import Manager, Operator, Settings

__all__ = [
    "ApiError",
    "Backoff",
    "BlockingContext",
    "Channel",
    "Client",
    "Column",
    "Condition",
    "Conflict",
    "Context",
    "Int32",
    "Int64",
    "IntOrString",
    "Invalid",
    "LabelSelector",
    "Manager",
    "Model",
    "NotFound",
    "ObjectMeta",
    "Operator",
    "OwnerReference",
    "Quantity",
    "Request",
    "Requeue",
    "Resource",
    "Result",
    "Scale",
    "Selector",
    "Settings",
    "TerminalError",
    "Time",
    "Watch",
    "Whole",
    "cron",
    "every",
    "field",
    "owner",
    "owner_label",
    "resource",
]

if not TYPE_CHECKING:
    _HOME = {
        "Client": "client",
        "Manager": "operator",
        "Operator": "operator",
        "Settings": "operator",
        **dict.fromkeys(
            (
                "Backoff",
                "BlockingContext",
                "Channel",
                "Context",
                "Request",
                "Requeue",
                "Result",
                "TerminalError",
                "Watch",
                "Whole",
                "cron",
                "every",
                "owner",
                "owner_label",
            ),
            "controller",
        ),
    }

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'kubewright' has no attribute {name!r}")
        return getattr(importlib.import_module(f"kubewright.{_HOME.get(name, 'api')}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
