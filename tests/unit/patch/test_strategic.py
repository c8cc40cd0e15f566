"""Strategic merge patch against what API servers (1.20, and 1.36 where it refuses) made of a Deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubewright
from kubewright.patch import strategic
from kubewright.patch.errors import PatchError
from kubewright.patch.shape import Shape

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / "strategic.json").read_bytes())
DEFINITIONS: dict[str, Any] = json.loads(
    (Path(kubewright.__file__).parent / "devcluster" / "builtin" / "definitions.json").read_bytes()
)["definitions"]
DEPLOYMENT = Shape({"$ref": "#/definitions/io.k8s.api.apps.v1.Deployment"}, DEFINITIONS)


def without_empty(value: Any) -> Any:
    """As the server prints it: a Deployment's empty lists and labels are not there."""
    if isinstance(value, dict):
        shown = {key: without_empty(item) for key, item in value.items()}
        return {
            key: item
            for key, item in shown.items()
            if item not in (None, []) and not (item == {} and key in {"labels", "affinity", "securityContext"})
        }
    return [without_empty(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_a_patch_does_what_the_server_does(case: dict[str, Any]) -> None:
    live: Any = RECORDED["live"]
    before = json.dumps(live)
    if case["code"] < 300:
        assert without_empty(strategic.apply(live, case["patch"], DEPLOYMENT)) == case["object"]
    else:
        with pytest.raises(PatchError) as refused:
            strategic.apply(live, case["patch"], DEPLOYMENT)
        assert (refused.value.code, str(refused.value)) == (case["code"], case["message"])
    assert json.dumps(live) == before


def test_directives_say_nothing_in_what_is_new() -> None:
    volume: Any = {"name": "n", "$retainKeys": ["name", "configMap"], "configMap": {"$patch": "replace", "name": "x"}}
    patched: Any = strategic.apply({}, {"spec": {"template": {"spec": {"volumes": [volume]}}}}, DEPLOYMENT)
    assert patched["spec"]["template"]["spec"]["volumes"] == [{"name": "n"}]
    live: Any = {"spec": {"template": {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}}}
    patched = strategic.apply(live, {"spec": {"template": {"spec": {"volumes": [volume]}}}}, DEPLOYMENT)
    assert patched["spec"]["template"]["spec"]["volumes"] == [
        {"name": "n", "configMap": {"name": "x"}},
        {"name": "v", "emptyDir": {}},
    ]


def test_items_of_different_types_are_refused() -> None:
    live: Any = {"metadata": {"finalizers": ["a/b"]}}
    with pytest.raises(PatchError, match="list element types are not identical") as refused:
        strategic.apply(live, {"metadata": {"finalizers": ["c/d", {"a": 1}]}}, DEPLOYMENT)
    assert refused.value.code == 500


def test_a_patch_that_is_no_object_is_refused_in_the_servers_words() -> None:
    with pytest.raises(PatchError) as refused:
        strategic.apply({}, [], DEPLOYMENT)
    assert refused.value.code == 400
    assert str(refused.value) == "json: cannot unmarshal array into Go value of type map[string]interface {}"
