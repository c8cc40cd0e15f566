"""`end_at_once`: how a process ends in which something does not."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from kubewright.cli.failure import Failure, first_failure
from kubewright.cli.signals import Signals
from kubewright.cli.standard_output import flush_or_forget
from kubewright.telemetry import Log

__all__ = ["end_at_once"]


def end_at_once(signals: Signals, log: Log) -> NoReturn:
    """Without waiting for tasks that do not end, as Python would; to be called while what went wrong is being raised."""
    code, error = signals.exit_code, sys.exception()
    if signals.first is None:
        code = 0
        if error is not None:
            failure = first_failure(error)
            code = failure.exit_code if isinstance(failure, Failure) else 1
            log.error("failed", error=str(failure), exit_code=code)
    flush_or_forget()
    os._exit(code)
