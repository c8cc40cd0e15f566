"""What is refused, and how it is said."""

from collections.abc import Callable
from typing import Any

from kubewright.schema import Structural

Recorded = Callable[[str], Any]


def around(name: str, schema: dict[str, Any]) -> Structural:
    return Structural(
        {"type": "object", "properties": {"spec": {"type": "object", "properties": {name: schema}}}},
    )


def an_object(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "t.example.com/v1", "kind": "Value", "metadata": {"name": "x"}, "spec": spec}


def test_values_are_refused_in_the_server_s_words(recorded: Recorded, causes: Any) -> None:
    for name, schema, cases in recorded("values"):
        structural = around(name, schema)
        for value, expected in cases:
            obj, _ = structural.prune(structural.default(an_object(**{name: value})))
            assert causes(structural.validate(obj)) == expected, (name, value)


def test_rules_that_were_not_checked_are_mentioned_when_other_errors_block_them(causes: Any) -> None:
    schema = {"type": "object", "required": ["a"], "x-kubernetes-validations": [{"rule": "self.a != 5"}]}
    found = causes(around("o", schema).validate(an_object(o={})))
    assert found == [
        ["FieldValueRequired", "spec.o.a", "Required value"],
        [
            "FieldValueInvalid",
            "<nil>",
            (
                "Invalid value: null: some validation rules were not checked because the object was invalid; "
                "correct the existing errors to complete validation"
            ),
        ],
    ]


def test_rules_alone_refuse_nothing() -> None:
    schema = {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 100"}]}
    assert around("n", schema).validate(an_object(n=1)) == []


def test_true_is_not_one() -> None:
    structural = around("n", {"type": "integer", "enum": [1]})
    assert [error.reason for error in structural.validate(an_object(n=True))] == [
        "FieldValueTypeInvalid",
        "FieldValueNotSupported",
    ]


def test_references_are_followed_even_when_types_contain_themselves(causes: Any) -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/definitions/Tree"}, "size": {"type": "integer"}}}
    structural = Structural(
        {"type": "object", "properties": {"spec": {"allOf": [{"$ref": "#/definitions/Tree"}]}}}, {"Tree": tree}
    )
    found = structural.validate({"spec": {"left": {"left": {"size": "big"}}}})
    assert causes(found) == [
        [
            "FieldValueTypeInvalid",
            "spec.left.left.size",
            'Invalid value: "string": spec.left.left.size in body must be of type integer: "string"',
        ]
    ]
