from __future__ import annotations

from tests.conformance.table import TABLE, render


def test_the_table_is_that_of_the_cases() -> None:
    assert TABLE.read_text() == render(), "run python -m tests.conformance.table"
