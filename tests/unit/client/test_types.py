"""What type checkers make of the verbs. mypy and pyright read this file (``make lint``); running it calls the verbs too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import pytest

from kubewright.api import ObjectMeta, Unstructured, unstructured
from kubewright.client import Client, JsonPatch, MergePatch, Page, Subresource, WatchEvent
from kubewright.client.kubeconfig import KubeconfigError
from kubewright.kinds import autoscaling_v1
from tests.unit.client.conftest import Script, Widget, answer, widget

Thing = unstructured("example.com/v1", "Widget", plural="widgets")


async def test_verbs_give_the_class_that_was_asked_for(client: Client, script: Script) -> None:
    listed = {"metadata": {}, "items": [widget()]}
    script.will_answer(
        answer(widget()), answer(listed), answer(listed), answer(widget()), answer(widget()), answer(widget())
    )
    got = await client.get(Widget, "a", namespace="ns")
    assert_type(got, Widget)
    assert_type(await client.list(Widget), list[Widget])
    async for page in client.pages(Widget):
        assert_type(page, Page[Widget])
        assert_type(page.items, list[Widget])
    assert_type(await client.create(got), Widget)
    assert_type(await client.ensure(got), Widget)
    assert_type(await client.apply(got), Widget)
    script.will_answer(*[answer(widget())] * 4, [b'{"type":"DELETED","object":{}}\n'])
    assert_type(await client.edit(Widget, "a", lambda obj: setattr(obj.spec, "size", 2), namespace="ns"), Widget)
    assert_type(
        await client.patch(Widget, "a", MergePatch().set("/spec/size", 0), namespace="ns", dry_run=True), Widget
    )
    assert_type(await client.patch(Widget, "a", JsonPatch().remove("/spec"), namespace="ns"), Widget)
    async for event in client.watch(Widget, namespace="ns"):
        assert_type(event, WatchEvent[Widget])


async def test_subresources_give_what_they_are_said_to_be(client: Client, script: Script) -> None:
    scale = {"metadata": {"name": "a"}, "spec": {"replicas": 1}, "status": {}}
    script.will_answer(*[answer(scale)] * 4)
    assert_type(await client.get_scale(Widget, "a", namespace="ns"), autoscaling_v1.Scale)
    assert_type(await client.scale(Widget, "a", 1, namespace="ns"), autoscaling_v1.Scale)
    typed = client.subresource(Widget, "a", "scale", namespace="ns", of=autoscaling_v1.Scale)
    assert_type(typed, Subresource[autoscaling_v1.Scale])
    assert_type(await typed.get(), autoscaling_v1.Scale)
    raw = client.subresource(Widget, "a", "scale", namespace="ns")
    assert_type(await raw.get(), dict[str, Any])


async def test_kinds_without_a_class_are_unstructured(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()), answer({"metadata": {}, "items": []}), answer(widget()))
    assert_type(await client.get(Thing, "a", namespace="ns"), Unstructured)
    assert_type(await client.list(Thing), list[Unstructured])
    assert_type(await client.create(Thing(metadata=ObjectMeta(name="a", namespace="ns"))), Unstructured)


async def test_connecting_gives_a_client(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError):
        async with Client.connect(kubeconfig=tmp_path / "missing") as connected:
            assert_type(connected, Client)
