"""Strategic merge patches whose result its kind can't read, or that say what has no place in it."""

from __future__ import annotations

from typing import Any

import pytest

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_a_strategic_patch_says_nothing_about_the_kind(api: Any) -> None:
    api.post(CONFIG_MAPS, {"metadata": {"name": "a"}})
    reply = api.patch(f"{CONFIG_MAPS}/a", {"kind": "Foo", "apiVersion": "v2", "data": {"x": "y"}}, "strategic")
    assert (reply.status, reply.body["kind"], reply.body["apiVersion"]) == (200, "ConfigMap", "v1")
    assert reply.body["data"] == {"x": "y"}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"immutable": "x"}, "unrecognized type: bool"),
        ({"immutable": 1}, "unrecognized type: bool"),
        ({"data": {"x": True}}, "unrecognized type: string"),
        ({"data": {"x": [1]}}, "unrecognized type: string"),
        ({"data": {"x": 1}}, "cannot convert int64 to string"),
        ({"data": "x"}, "cannot restore map from string"),
    ],
)
def test_a_strategic_patch_of_a_wrong_type_is_refused_in_the_converters_words(
    api: Any, patch: dict[str, Any], said: str
) -> None:
    api.post(CONFIG_MAPS, {"metadata": {"name": "a"}})
    reply = api.patch(f"{CONFIG_MAPS}/a", patch, "strategic")
    assert reply.status == 422
    assert reply.message.endswith(f": {said}")


def test_a_strategic_patch_with_a_fraction_is_refused_as_one(api: Any) -> None:
    services = "/api/v1/namespaces/default/services"
    api.post(services, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}})
    reply = api.patch(f"{services}/a", {"spec": {"healthCheckNodePort": 1.5}}, "strategic")
    assert reply.message.endswith(": cannot convert float64 to int32")
