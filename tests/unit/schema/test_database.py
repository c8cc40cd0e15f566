"""The bad objects of the first example, whole answers."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubewright.schema import Structural, invalid_status


@pytest.fixture
def structural() -> Structural:
    text = {"type": "string"}
    storage = {
        "type": "object",
        "required": ["size"],
        "properties": {"size": {"type": "string", "pattern": "^[0-9]+[KMGT]i$"}, "storageClassName": text},
    }
    replicas = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10}
    engine = {"type": "string", "enum": ["postgres", "mysql", "mariadb"]}
    spec = {
        "type": "object",
        "required": ["engine", "replicas", "storage", "version"],
        "properties": {"replicas": replicas, "engine": engine, "version": text, "storage": storage},
    }
    return Structural(
        {
            "type": "object",
            "properties": {"apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec},
        }
    )


def test_bad_databases_get_the_answers_of_a_real_server(structural: Structural, recorded: Callable[[str], Any]) -> None:
    for name, obj, expected in recorded("database"):
        errors = structural.validate(obj)
        if expected is None:
            assert errors == [], name
        else:
            status = invalid_status(errors, kind="Database", group="apps.example.com", name="my-postgres")
            assert msgspec.to_builtins(status) == expected, name
