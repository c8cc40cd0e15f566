"""Recorded answers of a real API server, and errors in the form in which they were recorded."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from kubewright.schema import FieldError

DATA = Path(__file__).parent / "data"


@pytest.fixture
def recorded() -> Callable[[str], Any]:
    return lambda name: json.loads((DATA / f"{name}.json").read_text())


@pytest.fixture
def causes() -> Callable[[Iterable[FieldError]], list[list[str]]]:
    return lambda errors: [[error.reason, error.field, error.detail] for error in errors]
