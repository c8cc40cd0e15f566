"""Bodies: what fits a kind's types, what does not, and how values are written back."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api.quantities import QuantityError, canonical
from kubewright.devcluster.objects import Object
from kubewright.devcluster.statuses import StatusError

from .recorded import recorded, served


@pytest.mark.parametrize("case", recorded("decoding"), ids=lambda case: case["message"][-60:])
def test_a_value_of_the_wrong_type_is_refused_in_a_real_servers_words(case: Any) -> None:
    message = case["message"].replace("livenessProbe.ProbeHandler.httpGet", "livenessProbe.httpGet")
    with pytest.raises(StatusError) as refused:
        served(case["sent"]).strategy.read(case["sent"])
    assert refused.value.body["message"] == message
    assert refused.value.code == 400


def test_unknown_fields_are_named_with_their_paths_and_left_out() -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "lables": {}},
        "spec": {"containers": [{"name": "a", "imag": "x"}, {"env": [{"nam": "b"}]}], "replica": 1},
    }
    known, unknown = served(pod).strategy.read(pod)
    assert unknown == ["metadata.lables", "spec.containers[0].imag", "spec.containers[1].env[0].nam", "spec.replica"]
    assert known["spec"] == {"containers": [{"name": "a"}, {"env": [{}]}]}


def test_a_definitions_schema_is_looked_into_and_its_defaults_are_not() -> None:
    definition: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "versions": [
                {
                    "schema": {
                        "openAPIV3Schema": {
                            "propertys": {},
                            "properties": {"a": {"items": {"typ": "x"}, "default": {"anything": {"goes": 1}}}},
                            "additionalProperties": {"typo": 1},
                        }
                    }
                }
            ]
        },
    }
    known, unknown = served(definition).strategy.read(definition)
    at = "spec.versions[0].schema.openAPIV3Schema"
    assert unknown == [f"{at}.propertys", f"{at}.properties.a.items.typ", f"{at}.additionalProperties.typo"]
    schema = known["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["a"]["default"] == {"anything": {"goes": 1}}


def test_what_a_struct_cannot_tell_from_absent_vanishes() -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {}, "finalizers": []},
        "spec": {
            "hostNetwork": False,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "nodeName": "",
            "containers": [{"name": "a", "args": [], "stdin": False, "securityContext": {}}],
        },
    }
    written = served(pod).strategy.default(pod)
    assert "labels" not in written["metadata"]
    assert "finalizers" not in written["metadata"]
    assert written["spec"].keys() & {"hostNetwork", "nodeName"} == set()
    assert written["spec"]["automountServiceAccountToken"] is False
    assert written["spec"]["terminationGracePeriodSeconds"] == 0
    assert written["spec"]["containers"][0].keys() & {"args", "stdin", "securityContext"} == {"securityContext"}


def test_an_empty_storage_class_differs_from_none() -> None:
    claim: Object = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}}
    assert served(claim).strategy.default(claim)["spec"]["storageClassName"] == ""


@pytest.mark.parametrize(
    ("written", "canonical_form"),
    [
        ("1024Mi", "1Gi"),
        ("0.5", "500m"),
        ("1000000", "1M"),
        ("1.5Gi", "1536Mi"),
        ("0.1Gi", "107374182400m"),
        ("1e3", "1e3"),
        ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"),
        ("1000m", "1"),
        ("100u", "1m"),
        ("0Gi", "0"),
        ("1234567890", "1234567890"),
        ("1.23456789012", "1235m"),
        ("12E", "12E"),
        (".5", "500m"),
        ("1000k", "1M"),
        (1.5, "1500m"),
        (100, "100"),
    ],
)
def test_quantities_come_back_in_canonical_form(written: str | float, canonical_form: str) -> None:
    assert canonical(written) == canonical_form


@pytest.mark.parametrize("text", ["", "a", "1 Gi", "Gi", "1.2.3", "--1", "1gi"])
def test_other_text_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        canonical(text)


def test_a_role_with_no_rules_differs_from_one_that_says_nothing_of_rules() -> None:
    role: Object = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": []}
    strategy = served(role).strategy
    assert strategy.default(role)["rules"] == []
    assert strategy.default({"apiVersion": role["apiVersion"], "kind": "Role"})["rules"] is None
