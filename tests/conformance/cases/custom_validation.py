"""What a schema makes of an object: pruned, defaulted, refused."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.definitions import DEFINITIONS, defined, definition, version
from tests.conformance.registry import case
from tests.conformance.specimen import SPECIMENS, specimen
from tests.conformance.world import World

_DRY = {"dryRun": "All"}


async def _create(w: World, *specs: dict[str, Any], **query: str) -> None:
    """Each as a dry run: what it becomes, or why it is refused."""
    for spec in specs:
        answer = await w.create(SPECIMENS, specimen("a", **spec), query={**_DRY, **query})
        warning = answer.headers.get("warning", "")
        refused = answer.body if answer.status >= 400 else None
        label = json.dumps(spec, ensure_ascii=False)
        w.transcript.add(label, status=answer.status, warning=warning, spec=answer.body.get("spec"), refused=refused)


@case("create", given="minLength, maxLength and pattern", body="texts")
async def texts(w: World) -> None:
    await _create(w, {"text": "abc"}, {"text": "a"}, {"text": "abcde"}, {"text": "ßßßß"}, {"text": "AB"}, {"text": "A"})


@case("create", given="enums", body="values in and outside of them")
async def enums(w: World) -> None:
    await _create(w, {"choice": "one"}, {"choice": "three"}, {"choice": ""}, {"mixed": 2}, {"mixed": 4})


@case("create", given="minimum, maximum and multipleOf, inclusive and exclusive", body="numbers")
async def numbers(w: World) -> None:
    await _create(
        w,
        {"number": 0},
        {"number": 9.5},
        {"number": -0.5},
        {"number": 10.5},
        {"number": 0.3},
        {"between": 0.5},
        {"between": 0},
        {"between": 1},
        {"even": 4},
        {"even": 3},
    )


@case("create", given="integers of 32 and 64 bits", body="numbers beyond them")
async def integer_formats(w: World) -> None:
    await _create(
        w,
        {"small": 2**31 - 1},
        {"small": 2**31},
        {"small": -(2**31) - 1},
        {"large": 2**63 - 1},
        {"whole": 2**53 + 1},
        {"whole": 1.0},
        {"whole": 1.5},
        {"whole": 1e3},
    )


@case("create", given="a declared type", body="a value of another type")
async def wrong_types(w: World) -> None:
    await _create(
        w,
        {"text": 1},
        {"text": True},
        {"text": {"a": 1}},
        {"number": "1"},
        {"whole": "1"},
        {"flag": "true"},
        {"flag": 1},
        {"list": "1"},
        {"list": {"a": 1}},
        {"list": ["a"]},
        {"dictionary": [1]},
        {"dictionary": {"a": "x"}},
        {"required": "x"},
        {"required": []},
    )


@case("create", given="a declared spec", body="a spec of another type")
async def wrong_spec(w: World) -> None:
    wrong: list[Any] = ["text", 1, [], None]
    for spec in wrong:
        await w.create(SPECIMENS, {**specimen("a"), "spec": spec}, query=_DRY, label=f"{spec!r}")


@case("create", given="minItems, maxItems and rules for the items", body="lists")
async def lists(w: World) -> None:
    await _create(w, {"list": [1]}, {"list": []}, {"list": [1, 2, 3]}, {"list": [1, -1]}, {"list": [-1, "x"]})


@case("create", given="a list that is a set", body="members twice")
async def sets(w: World) -> None:
    await _create(w, {"set": ["a", "b"]}, {"set": ["a", "b", "a", "a", "b"]})


@case("create", given="a list that is a map", body="items of one key, some of it defaulted")
async def list_maps(w: World) -> None:
    await _create(
        w,
        {"map": [{"name": "a"}, {"name": "a", "protocol": "UDP"}]},
        {"map": [{"name": "a"}, {"name": "a", "protocol": "TCP"}]},
        {"map": [{"name": "a"}, {"name": "a"}, {"name": "a"}]},
        {"map": [{"port": 1}]},
        {"map": [{"name": None}]},
    )


@case("create", given="minProperties, maxProperties and additionalProperties", body="dictionaries")
async def dictionaries(w: World) -> None:
    await _create(
        w,
        {"dictionary": {"a": 1}},
        {"dictionary": {}},
        {"dictionary": {"a": 1, "b": 2, "c": 3}},
        {"dictionary": {"a": "1", "b": None}},
    )


@case("create", given="required fields", body="without them")
async def required_fields(w: World) -> None:
    await _create(
        w, {"required": {}}, {"required": {"a": "x"}}, {"required": {"a": "x", "b": None}}, {"required": None}
    )


@case("create", given="nullable fields and others", body="nulls")
async def nulls(w: World) -> None:
    await _create(
        w,
        {"nullable": None, "nullableWithDefault": None},
        {"text": None, "flag": None, "list": None},
        {"defaulted": None},
        {"defaulted": {"text": None, "list": None, "inner": None}},
        {"set": ["a", None]},
        {"list": [None]},
        {"dictionary": {"a": None}},
        {"preserved": None, "anything": None},
        {"intOrString": None},
    )


@case("create", given="defaults at every depth", body="with and without parents")
async def defaulting(w: World) -> None:
    await _create(
        w,
        {},
        {"defaulted": {}},
        {"defaulted": {"text": "", "list": [], "inner": {"number": 0}}},
        {"items": [{}, {"n": 1}, {"m": "x"}]},
        {"dictionaryOfObjects": {"a": {}, "b": {"n": 1}}},
        {"map": [{"name": "a"}]},
    )


@case("create", given="a schema", body="fields that it does not have")
async def pruning(w: World) -> None:
    await _create(
        w,
        {"unknown": 1},
        {"defaulted": {"unknown": 1, "inner": {"unknown": 1}}},
        {"items": [{"unknown": 1}]},
        {"dictionaryOfObjects": {"a": {"unknown": 1}}},
        {"preserved": {"unknown": {"x": 1}, "known": {"a": 1, "unknown": 2}}},
        {"anything": {"a": [{"b": 1}]}},
        {"anything": "text"},
    )


@case("create", given="fieldValidation=Strict", body="fields that the schema does not have")
async def strict_pruning(w: World) -> None:
    await _create(
        w,
        {"unknown": 1, "another": 2},
        {"items": [{"n": 1}, {"unknown": 1}], "dictionaryOfObjects": {"a b": {"unknown": 1}}},
        {"preserved": {"unknown": 1, "known": {"unknown": 2}}},
        {"embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"unknown": 1}, "more": 1}},
        fieldValidation="Strict",
    )


@case("create", given="int-or-string fields", body="both, and others")
async def int_or_string(w: World) -> None:
    await _create(
        w,
        {"intOrString": 1},
        {"intOrString": "1"},
        {"intOrString": 1.5},
        {"intOrString": True},
        {"intOrString": {}},
        {"percentage": "10%"},
        {"percentage": "10"},
        {"percentage": 10},
    )


@case("create", given="embedded resources", body="objects good and bad")
async def embedded_resources(w: World) -> None:
    whole = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    await _create(
        w,
        {"embedded": {**whole, "data": {"a": "b"}}},
        {"embedded": {}},
        {"embedded": {"apiVersion": "v1"}},
        {"embedded": {"apiVersion": "a/b/c", "kind": "X"}},
        {"embedded": {"apiVersion": "v1", "kind": "not a kind"}},
        {"embedded": {**whole, "metadata": {"name": "Not A Name", "labels": {"a b": "c"}}}},
        {"embedded": {**whole, "metadata": {"labels": {"a": 1}}}},
        {"embedded": {**whole, "metadata": "x"}},
        {"embeddedKnown": {**whole, "data": {"a": "b"}, "spec": {"a": "x", "b": "y"}}},
        {"embeddedKnown": {**whole, "metadata": {"name": "x", "uid": "u", "unknown": 1, "managedFields": []}}},
    )


@case("create", given="anyOf, oneOf, allOf and not", body="values that fit and don't")
async def junctors(w: World) -> None:
    await _create(
        w,
        {"anyOf": 1},
        {"anyOf": 5},
        {"oneOf": 1},
        {"oneOf": 4},
        {"allOf": 4},
        {"allOf": 9},
        {"not": 1},
        {"not": 4},
        {"oneField": {"a": "x"}},
        {"oneField": {}},
        {"oneField": {"a": "x", "b": "y"}},
    )


@case("create", given="string formats", body="texts that have them")
async def good_formats(w: World) -> None:
    good = {
        "bsonobjectid": "507f1f77bcf86cd799439011",
        "uri": "https://example.dev/a?b#c",
        "email": "a@example.dev",
        "hostname": "a-b.example.dev",
        "ipv4": "10.0.0.1",
        "ipv6": "::1",
        "cidr": "10.0.0.0/8",
        "mac": "01:23:45:67:89:ab",
        "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "uuid3": "6fa459ea-ee8a-3ca4-894e-db77e160355e",
        "uuid4": "16fd2706-8baf-433b-82eb-8c7fada847da",
        "uuid5": "886313e1-3b8a-5372-9b90-0c9aee199e5d",
        "isbn": "0-321-75104-3",
        "isbn10": "0321751043",
        "isbn13": "978-0321751041",
        "creditcard": "4111 1111 1111 1111",
        "ssn": "123-45-6789",
        "hexcolor": "#ff00ff",
        "rgbcolor": "rgb(0,1,255)",
        "byte": "aGVsbG8=",
        "password": "anything",
        "date": "2024-02-29",
        "duration": "1h30m",
        "date-time": "2024-02-29T12:00:00Z",
        "datetime": "2024-02-29T12:00:00.123+01:00",
    }
    await _create(w, {"formats": good})


@case("create", given="string formats", body="texts that lack them")
async def bad_formats(w: World) -> None:
    bad = {
        "bsonobjectid": "507f1f77",
        "uri": "no uri",
        "email": "a@",
        "hostname": "-a.example.dev",
        "ipv4": "10.0.0.256",
        "ipv6": "10.0.0.1",
        "cidr": "10.0.0.0",
        "mac": "01:23",
        "uuid": "6ba7b810",
        "uuid3": "16fd2706-8baf-433b-82eb-8c7fada847da",
        "uuid4": "6fa459ea-ee8a-3ca4-894e-db77e160355e",
        "uuid5": "6fa459ea-ee8a-3ca4-894e-db77e160355e",
        "isbn": "1",
        "isbn10": "0321751042",
        "isbn13": "978-0321751042",
        "creditcard": "4111 1111 1111 1112",
        "ssn": "123456789",
        "hexcolor": "ff00f",
        "rgbcolor": "rgb(0,1,256)",
        "byte": "not base64!",
        "date": "2023-02-29",
        "duration": "soon",
        "date-time": "2024-02-29 12:00",
        "datetime": "yesterday",
    }
    for name, text in bad.items():
        await _create(w, {"formats": {name: text}})


@case("create", given="a schema", body="much that is wrong at once")
async def many_errors(w: World) -> None:
    wrong = {
        "text": "ABCDE",
        "choice": "none",
        "number": 11,
        "list": [-1, -2, -3],
        "required": {"c": 1},
        "map": [{"name": "a"}, {"name": "a"}],
        "embedded": {"metadata": {"name": "A B"}},
        "anyOf": 5,
    }
    answer = await w.create(SPECIMENS, specimen("a", **wrong))
    causes = sorted(answer["details"]["causes"], key=json.dumps)  # the server's own order is by chance
    w.transcript.add("create", status=answer.status, causes=causes)


@case("update the status", given="a status schema", body="a status and a spec that are wrong")
async def wrong_status(w: World) -> None:
    await w.create(SPECIMENS, specimen("a"))
    await w.merge(f"{SPECIMENS}/a/status", {"status": {"text": "long"}}, label="status")
    await w.merge(f"{SPECIMENS}/a/status", {"spec": {"text": "x"}}, label="spec")
    await w.merge(f"{SPECIMENS}/a", {"status": {"text": "long"}}, label="status of the object")


def _plain(name: str, w: World, **spec: Any) -> dict[str, Any]:
    group = f"{w.namespace}.example.dev"
    return {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec}


def _fields(fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields, **more}}}


@case("update", given="an object that a later schema would refuse", body="changes elsewhere and there")
async def ratcheting(w: World) -> None:
    loose = _fields(
        {
            "text": {"type": "string"},
            "other": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "inner": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
            "map": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {
                    "type": "object",
                    "required": ["k"],
                    "properties": {"k": {"type": "string"}, "n": {"type": "integer"}},
                },
            },
        }
    )
    tight = json.loads(json.dumps(loose))
    fields = tight["properties"]["spec"]["properties"]
    fields["text"]["maxLength"] = 2
    fields["list"]["items"]["maxLength"] = 2
    fields["set"]["maxItems"] = 1
    fields["inner"]["required"] = ["b"]
    fields["inner"]["properties"]["a"]["maximum"] = 5
    fields["map"]["items"]["properties"]["n"]["maximum"] = 5
    body = definition(w, versions=[version("v1", loose)])
    async with defined(w, body) as path:
        spec = {
            "text": "long",
            "other": "x",
            "list": ["long", "b"],
            "set": ["a", "b"],
            "inner": {"a": 9},
            "map": [{"k": "a", "n": 9}, {"k": "b", "n": 1}],
        }
        await w.create(path, _plain("a", w, **spec))
        await w.json_patch(
            f"{DEFINITIONS}/{body['metadata']['name']}",
            [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": tight}],
        )
        wrong = _plain("b", w, text="long")
        await w.until(lambda: w.create(path, wrong, query=_DRY), lambda answer: answer.status == 422)
        for label, change in (
            ("elsewhere", {"other": "y"}),
            ("there, still wrong", {"text": "longer"}),
            ("there, now right", {"text": "ok"}),
            ("another item of the list", {"list": ["long", "c"]}),
            ("a set that is too long", {"set": ["b", "a"]}),
            ("another field of an incomplete object", {"inner": {"a": 8}}),
            ("an item moved in a map", {"map": [{"k": "b", "n": 1}, {"k": "a", "n": 9}]}),
            ("a wrong item of a map changed", {"map": [{"k": "a", "n": 8}]}),
            ("a wrong item added to a map", {"map": [{"k": "a", "n": 9}, {"k": "c", "n": 9}]}),
        ):
            answer = await w.merge(f"{path}/a", {"spec": change}, query=_DRY)
            refused = answer.body if answer.status >= 400 else None
            w.transcript.add(label, status=answer.status, refused=refused)
