"""Warnings of the API server, in the client's log."""

from __future__ import annotations

import io

import msgspec
import pytest

from kubewright.api import resource_info
from kubewright.client import Client
from kubewright.client.server_warnings import ServerWarnings, warning_texts
from kubewright.telemetry import new_log
from tests.unit.client.conftest import Script, Widget, answer, widget

WIDGETS = resource_info(Widget)


def logged(stream: io.StringIO) -> list[str]:
    return [msgspec.json.decode(line)["warning"] for line in stream.getvalue().splitlines()]


async def test_each_is_logged_once(script: Script) -> None:
    stream = io.StringIO()
    client = Client(script, log=new_log("json", stream=stream))
    old = '299 - "widgets v1 is old"'
    script.will_answer(
        answer(widget(), warning=old), answer(widget(), warning=f'{old}, 299 k8s "a, \\"b\\""'), answer(widget())
    )
    await client.get(Widget, "a", namespace="ns")
    await client.rest.update(WIDGETS, "a", b"{}", namespace="ns")
    await client.get(Widget, "a", namespace="ns")
    assert logged(stream) == ["widgets v1 is old", 'a, "b"']


async def test_they_come_with_watches_too(script: Script) -> None:
    stream = io.StringIO()
    client = Client(script, log=new_log("json", stream=stream))
    script.will_answer(answer(b"", warning='299 - "old"'))
    async with client.rest.watch(WIDGETS):
        pass
    assert logged(stream) == ["old"]


def test_only_so_many_are_remembered() -> None:
    stream = io.StringIO()
    warnings = ServerWarnings(new_log("json", stream=stream))
    for number in [*range(1001), 1000, 0]:
        warnings.note(f'299 - "w{number}"')
    assert logged(stream)[-2:] == ["w1000", "w0"]
    assert len(logged(stream)) == 1002


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('110 cache "stale"', []),
        ("299 - unquoted", []),
        ('299 - "cut off', []),
        ('299 - "a" "Wed, 21 Oct 2015 07:28:00 GMT", 299 - "b"', ["a", "b"]),
        ('299 - ""', [""]),
    ],
)
def test_what_is_no_warning_of_kubernetes_is_left_alone(header: str, texts: list[str]) -> None:
    assert list(warning_texts(header)) == texts
