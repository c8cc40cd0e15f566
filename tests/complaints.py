"""`Complaints`: a log for tests in which nothing should go wrong."""

from __future__ import annotations

import traceback

from kubewright.telemetry import Log


class Complaints:
    """Keeps what should never be logged in a cluster where everything can be done."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def bind(self, **_values: object) -> Log:
        return self

    def debug(self, event: str, **values: object) -> None: ...

    info = debug

    def warning(self, event: str, **values: object) -> None:
        self.lines.append(f"{event} {values}")

    error = warning

    def exception(self, event: str, **values: object) -> None:
        self.lines.append(f"{event} {values}\n{traceback.format_exc()}")
