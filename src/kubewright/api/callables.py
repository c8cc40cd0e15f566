"""Whether a function that a user gives fits its place, asked where it is given and not when it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from kubewright.api.annotations import signature_as_written

__all__ = ["is_async", "takes"]


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives something to await; an object may be one to be called."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - an object's


def takes(function: Callable[..., object], count: int) -> bool:
    """Whether it can be called with ``count`` arguments. Functions of C's can't be asked, and are taken to be right."""
    try:
        signature_as_written(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True
