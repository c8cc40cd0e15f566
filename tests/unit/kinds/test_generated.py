"""The generated modules against the definitions they are made from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubewright import kinds
from kubewright.api import LabelSelector, Model, Resource, Scheme, convert, decode, encode, resource_info, to_dict
from kubewright.kinds import apiextensions_v1, apps_v1, core_v1, rbac_v1
from tools.generate_kinds.data import BUILTIN, Data
from tools.generate_kinds.names import attribute, class_name, module_name
from tools.generate_kinds.render import render
from tools.generate_kinds.types import has_class

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def data() -> Data:
    return Data.load(ROOT / BUILTIN)


def example(definition: str, data: Data, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """A value with every property of a definition, except where it would contain itself.

    Nor has a resource inside another (a StatefulSet's claim templates) apiVersion and kind: those belong to its class.
    """
    properties = data.definitions[definition]["properties"]
    left_out = {"apiVersion", "kind"} if definition in data.kinds() else set()
    above = (*above, definition)
    return {wire: _example(properties[wire], data, above) for wire in properties if wire not in left_out}


def _example(schema: dict[str, Any], data: Data, above: tuple[str, ...]) -> Any:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/definitions/")
        target = data.definitions[name]
        if name in above:
            return {}
        if target == {"type": "object"} and has_class(name):
            return {}  # a member of a union that says nothing more than that it was chosen
        if "properties" in target:
            return example(name, data, above)
        return _example(target, data, above)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "array":
            return [_example(schema["items"], data, above)]
        case "object":
            values = schema.get("additionalProperties")
            return {"key": _example(values, data, above)} if values else {"anything": [1, "two"]}
        case "integer":
            return 7
        case "number":
            return 0.5
        case "boolean":
            return False
        case "string":
            return "2026-01-02T03:04:05Z" if schema.get("format") == "date-time" else "text"
    return {}


def test_the_committed_modules_are_what_the_generator_writes(data: Data) -> None:
    folder = ROOT / "src/kubewright/kinds"
    for name, text in render(data).items():
        assert (folder / name).read_text() == text, f"{name} is stale: run python -m tools.generate_kinds"
    assert {path.name for path in folder.glob("*.py")} - {"listing.py"} == set(render(data))


def test_every_property_of_every_definition_survives_a_round_trip(data: Data) -> None:
    for definition in sorted(filter(has_class, data.reachable())):
        if "properties" not in data.definitions[definition]:
            continue
        model: type[Model] = getattr(getattr(kinds, module_name(definition)), class_name(definition))
        wire = example(definition, data)
        back = to_dict(convert(wire, model))
        if issubclass(model, Resource):
            del back["apiVersion"], back["kind"]
        assert back == wire, definition


def test_every_served_collection_has_a_kind_with_its_names(data: Data) -> None:
    scheme = Scheme(kinds.builtin_kinds())
    for group_version, entries in data.resources.items():
        for entry in entries:
            if "/" in entry["name"]:
                continue
            kind = scheme.type_for(group_version, entry["kind"])
            assert kind is not None, entry
            info = resource_info(kind)
            assert (info.plural, info.singular, info.namespaced) == (
                entry["name"],
                entry["singularName"],
                entry["namespaced"],
            )
            assert info.short_names == tuple(entry.get("shortNames", ()))


@pytest.mark.parametrize(
    ("wire", "python"),
    [
        ("clusterIP", "cluster_ip"),
        ("clusterIPs", "cluster_ips"),
        ("nonResourceURLs", "non_resource_urls"),
        ("fieldsV1", "fields_v1"),
        ("httpGet", "http_get"),
        ("insecureSkipTLSVerify", "insecure_skip_tls_verify"),
        ("x-kubernetes-int-or-string", "x_kubernetes_int_or_string"),
        ("$ref", "ref"),
        ("not", "not_"),
        ("continue", "continue_"),
        ("bool", "bool_"),
        ("openAPIV3Schema", "open_api_v3_schema"),
    ],
)
def test_attributes_read_like_python(wire: str, python: str) -> None:
    assert attribute(wire) == python


def test_an_explicit_zero_is_written_and_an_absent_field_is_not() -> None:
    spec = apps_v1.StatefulSetSpec(
        replicas=0,
        service_name="db",
        selector=LabelSelector(match_labels={"app": "db"}),
        template=core_v1.PodTemplateSpec(spec=core_v1.PodSpec(containers=[])),
    )
    assert msgspec.json.decode(encode(apps_v1.StatefulSet(spec=spec))) == {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {},
        "spec": {
            "replicas": 0,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"spec": {"containers": []}},
        },
        "status": {"replicas": 0},
    }


def test_spec_and_status_are_there_to_read_as_the_server_always_sends_them() -> None:
    service = decode(b'{"metadata":{"name":"db"}}', core_v1.Service)
    assert service.spec.cluster_ip is None
    assert service.status.load_balancer is None


def test_a_custom_resource_definition_keeps_its_recursive_schema() -> None:
    wire = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "string", "default": "x"}},
            "map": {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}},
            "open": {"type": "object", "additionalProperties": True},
        },
        "not": {"required": ["gone"]},
    }
    assert to_dict(convert(wire, apiextensions_v1.JSONSchemaProps)) == wire


def test_null_lists_of_the_server_are_read_as_empty() -> None:
    service = decode(b'{"spec": {"ports": null}}', core_v1.Service)
    assert service.spec is not None
    assert service.spec.ports is None
    role = decode(b'{"rules": [{"verbs": null}]}', rbac_v1.Role)
    assert role.rules is not None
    assert role.rules[0].verbs == []


def test_a_misspelt_module_is_an_error_that_lists_what_there_is() -> None:
    with pytest.raises(AttributeError, match=r"no module 'apps_v2'; it has .*apps_v1"):
        getattr(kinds, "apps_v2")  # noqa: B009


def test_naming_one_module_loads_no_other() -> None:
    code = (
        "import sys, kubewright.kinds as kinds\n"
        "assert not [name for name in sys.modules if name.startswith('kubewright.kinds.') and '_v' in name]\n"
        "kinds.coordination_v1\n"
        "assert 'kubewright.kinds.core_v1' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
