"""Writes ``TABLE.md``: verb × precondition × body × outcome, a row for each case. ``python -m tests.conformance.table``."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.conformance.registry import Case, all_cases

__all__ = ["TABLE", "render"]

TABLE = Path(__file__).parent / "TABLE.md"
_HEAD = """# What the conformance suite covers

Generated from the cases by `python -m tests.conformance.table`; each row is a case, run against the embedded cluster and
the real servers named.
"""


def render() -> str:
    parts = [_HEAD]
    for subject, cases in groupby(all_cases(), key=lambda case: case.subject):
        parts.append(
            f"\n## {subject.replace('_', ' ')}\n\n| verb | given | body | outcome | case | held to |\n|---|---|---|---|---|---|\n"
        )
        parts += [
            f"| {case.verb} | {case.given} | {case.body} | {_outcome(case)} | `{case.name}` | {', '.join(case.truths)} |\n"
            for case in cases
        ]
    return "".join(parts)


def _outcome(case: Case) -> str:
    """The last step: its HTTP status and, where it was refused, the reason; or the types of the events."""
    file = Path(__file__).parent / "recorded" / case.subject / f"{case.name}.json"
    step: dict[str, Any] = json.loads(file.read_text())[-1]
    if "events" in step:
        return " ".join(event["type"] for event in step["events"]) or "no event"
    if "status" not in step:
        return str(step.get("outcome", "as recorded"))
    body = step.get("body")
    reason = body.get("reason") if isinstance(body, dict) and body.get("kind") == "Status" else None
    return f"{step['status']} {reason}" if reason else str(step["status"])


if __name__ == "__main__":
    TABLE.write_text(render())
