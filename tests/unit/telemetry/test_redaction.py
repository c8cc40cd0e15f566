"""What messages and log lines show of objects and credentials."""

from __future__ import annotations

import io
import json
from collections import deque
from dataclasses import dataclass
from enum import Enum

import pytest
from msgspec import Struct

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.telemetry import new_log, shown, without_credentials
from kubewright.telemetry.logs import LogFormat
from kubewright.telemetry.redaction import loggable

SECRET = core_v1.Secret(metadata=ObjectMeta(name="s", namespace="default"), data={"password": "canary-1"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Authorization: Bearer abc.DEF-123_4", "Authorization: Bearer …"),
        ("Proxy-Authorization: Basic dXNlcjpjYW5hcnk0Mg==", "Proxy-Authorization: Basic …"),
        ("at https://me:canary@proxy:3128/x", "at https://…@proxy:3128/x"),
        ("token eyJhbGciOi.eyJpc3MiOi.c2lnbmF0", "token …"),
        ("Bearer authentication is wanted", "Bearer authentication is wanted"),
        ("https://host:6443/api?x=a@b", "https://host:6443/api?x=a@b"),
    ],
)
def test_credentials_are_cut_out_of_texts(text: str, told: str) -> None:
    assert without_credentials(text) == told


def test_objects_are_named_in_messages() -> None:
    assert shown(SECRET) == "Secret default/s"
    assert shown([SECRET, 3]) == "['Secret default/s', 3]"
    assert shown("text") == "'text'"


@pytest.mark.parametrize("format_", ["json", "console"])
def test_a_log_names_objects_and_cuts_credentials_out_of_tracebacks_too(format_: LogFormat) -> None:
    stream = io.StringIO()
    log = new_log(format_, stream=stream)
    log.bind(bound=SECRET).info("seen", one=SECRET, many={"of": [SECRET]}, raw=b"canary-2", url="http://a:canary@b")
    try:
        raise ValueError("401 for Bearer canary-3")  # noqa: TRY301 - a traceback is wanted
    except ValueError:
        log.exception("failed", error="Bearer canary-3")
    text = stream.getvalue()
    assert "canary" not in text
    assert text.count("Secret default/s") == 3
    assert "ValueError: 401 for Bearer …" in text
    if format_ == "json":
        first = json.loads(text.splitlines()[0])
        assert (first["many"], first["raw"]) == ({"of": ["Secret default/s"]}, "8 bytes")


class Holder(Struct):
    of: object
    more: object = None


@dataclass
class Record:
    of: object


class Named(Struct):
    name: str

    def __str__(self) -> str:
        return f"the one named {self.name}"


@pytest.mark.parametrize("format_", ["json", "console"])
def test_whatever_holds_an_object_names_it(format_: LogFormat) -> None:
    stream = io.StringIO()
    held = {"a": SECRET}
    holders = (Holder(SECRET), Record([Holder(SECRET)]), held.values(), held.items(), deque([SECRET]))
    new_log(format_, stream=stream).info("seen", **{f"v{number}": each for number, each in enumerate(holders)})
    text = stream.getvalue()
    assert "canary" not in text
    assert text.count("Secret default/s") == len(holders)
    if format_ == "json":
        assert json.loads(text)["v0"] == {"of": "Secret default/s"}


@pytest.mark.parametrize("format_", ["json", "console"])
def test_an_exception_is_shown_without_the_credentials_it_tells_of(format_: LogFormat) -> None:
    stream = io.StringIO()
    new_log(format_, stream=stream).info("failed", error=OSError("no proxy at https://me:canary@proxy"))
    assert "OSError('no proxy at https://…@proxy')" in stream.getvalue()


class Broken:
    def __repr__(self) -> str:
        raise KeyError("x")


def circle() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


UNWRITABLE = "na\udcffme"  # as os.fsdecode and subprocess have what is no UTF-8


@pytest.mark.parametrize("format_", ["json", "console"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (UNWRITABLE, "na\\udcffme"),
        ({UNWRITABLE: 1}, "na\\udcffme"),
        (ValueError(UNWRITABLE), "na\\udcffme"),
        (Broken(), "a Broken that can't be shown: KeyError"),
        ([Broken()], "a list that can't be shown: KeyError"),
        (circle(), "a list that can't be shown: RecursionError"),
    ],
)
def test_a_line_is_written_whatever_is_in_it(format_: LogFormat, value: object, told: str) -> None:
    stream = io.StringIO()
    new_log(format_, stream=stream).info("seen", value=value)
    text = stream.getvalue()
    assert text.encode()
    assert told in (str(json.loads(text)["value"]) if format_ == "json" else text).replace("\\\\", "\\")


def test_what_is_more_than_its_fields_is_shown_in_its_own_words() -> None:
    assert loggable({"one": Named("x"), "level": Colour.RED}) == {"one": "the one named x", "level": "red"}


class Colour(Enum):
    RED = "red"
