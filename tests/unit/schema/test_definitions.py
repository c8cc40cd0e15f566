"""CustomResourceDefinitions that a real server refuses, and those it takes."""

import copy
import re
from collections.abc import Callable
from typing import Any

from kubewright.schema.crd_definition import (
    completed_definition,
    definition_errors,
    definition_update_errors,
)
from kubewright.schema.crd_schema import schema_errors, unrecognised_formats

Recorded = Callable[[str], Any]
PATH = "spec.validation.openAPIV3Schema"
OBJECT = {"type": "object"}


def without_dumps(found: list[list[str]]) -> list[list[str]]:
    """The server shows its own data structures in two messages; we show the definition."""
    return [
        [
            reason,
            field,
            re.sub(r"^Invalid value: \[\{.*\}\]: ", "Invalid value: []: ", re.sub(r"\{.*\}: only", "{}: only", detail)),
        ]
        for reason, field, detail in found
    ]


def a_definition(**version: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": OBJECT}, **version}
            ],
        },
    }


def test_schemas_are_refused_in_the_server_s_words(recorded: Recorded, causes: Any) -> None:
    for schema, has_status, expected in recorded("schemas"):
        found = without_dumps(causes(schema_errors(schema, path=PATH, has_status=has_status)))
        assert sorted(found) == sorted(expected), schema


def test_definitions_are_refused_in_the_server_s_words(recorded: Recorded, causes: Any) -> None:
    for crd, expected in recorded("definitions"):
        assert without_dumps(causes(definition_errors(completed_definition(crd)))) == expected, crd["spec"]


def test_names_are_completed() -> None:
    spec = completed_definition(a_definition())["spec"]
    assert spec["names"] == {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    assert spec["conversion"] == {"strategy": "None"}


def test_where_objects_are_stored_may_not_change() -> None:
    old = {**completed_definition(a_definition()), "status": {"storedVersions": ["v1"]}}
    new = copy.deepcopy(old)
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"]["kind"] = "Item"
    assert [str(error) for error in definition_update_errors(new, old)] == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Item": field is immutable',
    ]
    assert definition_update_errors(old, old) == []


def test_a_version_that_was_stored_stays() -> None:
    crd = completed_definition(a_definition())
    for stored, expected in (
        (["v1"], []),
        ([], ["status.storedVersions: Invalid value: []: must have at least one stored version"]),
        (
            ["v0", "v1"],
            [
                (
                    'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage '
                    "version, and must remain in spec.versions until a storage migration ensures no data remains persisted in "
                    "v0 and removes v0 from status.storedVersions"
                )
            ],
        ),
    ):
        now = {**crd, "status": {"storedVersions": stored}}
        assert [str(error) for error in definition_update_errors(now, now)] == expected


def test_formats_that_nothing_checks_are_mentioned() -> None:
    fields = {"a": {"type": "string", "format": "foo"}, "b": {"type": "string", "format": "foo"}}
    schema = {"type": "object", "properties": {**fields, "c": {"type": "string", "format": "date-time"}}}
    assert unrecognised_formats(schema) == ['unrecognized format "foo"', 'unrecognized format "foo"']
