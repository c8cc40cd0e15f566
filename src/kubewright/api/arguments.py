"""What is misspelt where something is declared is refused with the nearest name, as flags and variables are.

Type checkers find such mistakes too; this is for those who run none, and for options that come from a mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import StructMeta

__all__ = ["Declared", "known_arguments", "nearest"]

F = TypeVar("F", bound=Callable[..., Any])


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The end of an error message about a ``name`` that is none of ``known``."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for who mistypes

    names = list(known)
    close = get_close_matches(name, names, n=1, cutoff=cutoff)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"


def known_arguments(function: F) -> F:
    """Has ``function`` raise a TypeError with the nearest name for a keyword argument that it does not have."""
    code = cast("Any", function).__code__
    names = tuple(name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self")
    owner, _, method = function.__qualname__.rpartition(".")
    what = owner if method == "__init__" else function.__qualname__

    @wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        _refuse_unknown(what, arguments, names)
        return function(*args, **arguments)

    return cast("F", call)


class Declared(StructMeta):
    """The metaclass of structs that people write as arguments of a declaration; see `known_arguments`."""

    if not TYPE_CHECKING:  # checkers would take its signature for that of each struct

        def __call__(cls, *args, **arguments):  # noqa: N805 - of a metaclass
            try:
                return super().__call__(*args, **arguments)
            except TypeError:
                _refuse_unknown(cls.__name__, arguments, cls.__struct_fields__)
                raise


def _refuse_unknown(what: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise TypeError(f"{what} has no argument {name!r}: {nearest(name, known)}")
