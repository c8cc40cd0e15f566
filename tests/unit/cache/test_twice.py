"""An own write's object comes twice, in the answer and from the watch; it is parsed once."""

from __future__ import annotations

import json

import msgspec
import pytest

from kubewright.api import DecodeError, Resource, resource, resource_info
from kubewright.cache import Entry, EntryParser


@resource("v1")
class ConfigMap(Resource):
    data: dict[str, str] | None = None


def text(version: int, name: str = "n") -> bytes:
    return json.dumps({"metadata": {"name": name, "resourceVersion": str(version)}}).encode()


def watched(parser: EntryParser, *texts: bytes) -> list[Entry]:
    return parser.watched([msgspec.Raw(each) for each in texts])


@pytest.fixture
def parser() -> EntryParser:
    parser = EntryParser(resource_info(ConfigMap))
    parser.answered(text(1))
    return parser


def test_what_was_answered_is_not_parsed_again_when_it_is_watched(parser: EntryParser) -> None:
    answer = parser.answered(text(7))
    before, again, after = watched(parser, text(6), text(7), text(8))
    assert again is answer
    assert (before.resource_version, after.resource_version) == (6, 8)
    assert watched(parser, text(7)) != [answer]  # it came twice, and is kept no longer


def test_what_was_watched_is_not_parsed_again_when_it_is_answered(parser: EntryParser) -> None:
    (entry,) = watched(parser, text(7))
    assert parser.answered(text(7)) is entry


def test_another_object_of_the_same_version_is_another(parser: EntryParser) -> None:
    parser.answered(text(7, "a"))
    (entry,) = watched(parser, text(7, "b"))
    assert entry.name == "b"


def test_what_does_not_come_twice_is_let_go_of(parser: EntryParser) -> None:
    first = parser.answered(text(7))
    for version in range(8, 80):
        parser.answered(text(version))
    assert watched(parser, text(7)) != [first]


def test_who_never_writes_keeps_nothing() -> None:
    parser = EntryParser(resource_info(ConfigMap))
    (entry,) = watched(parser, text(7))
    assert parser.answered(text(7)) is not entry


def test_what_is_no_object_is_refused_and_what_came_with_it_can_still_be_taken(parser: EntryParser) -> None:
    answer = parser.answered(text(7))
    with pytest.raises(DecodeError, match="not a ConfigMap"):
        watched(parser, text(7), b'{"metadata":{}}')
    assert watched(parser, text(7))[0].key == answer.key
