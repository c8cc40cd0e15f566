"""Variables that begin like ours and are none: a misspelt one must not do nothing, in silence."""

from __future__ import annotations

import os

from kubewright.cli.failure import Failure

__all__ = ["refuse_unknown"]

_EVERYDAY = frozenset({"KUBEWRIGHT_HOME", "KUBEWRIGHT_TRACEBACK"})


def refuse_unknown() -> None:
    """For commands without settings, which pass over those of commands that have them.

    Raises `Failure`, of wrong use, with the nearest name.
    """
    if all(name in _EVERYDAY for name in os.environ if name.startswith("KUBEWRIGHT_")):
        return
    from kubewright.operator.settings import SettingsError, refuse_unknown_variables  # noqa: PLC0415 - takes long to load

    try:
        refuse_unknown_variables(os.environ)
    except SettingsError as error:
        raise Failure(str(error), exit_code=2) from error
