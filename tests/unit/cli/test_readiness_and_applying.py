from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubewright.api import Scheme
from kubewright.cli.applying import read_manifests
from kubewright.cli.failure import Failure
from kubewright.cli.readiness import readiness, summary


def obj(status: dict[str, Any] | None, **spec: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"metadata": {"name": "x", "generation": 2}, "spec": spec}
    return body if status is None else {**body, "status": status}


def condition(kind: str, status: str, generation: int = 2) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": "Why", "message": "so", "observedGeneration": generation}


@pytest.mark.parametrize(
    ("status", "ready"),
    [
        ({"conditions": [condition("Available", "True")]}, True),
        ({"conditions": [condition("Available", "False")]}, False),
        ({"conditions": [condition("Available", "True", generation=1)]}, False),
        ({"conditions": [condition("Available", "True"), condition("Ready", "False")]}, False),
        ({"conditions": [condition("Reconciling", "True")]}, False),
        ({"conditions": [condition("Stalled", "True"), condition("Ready", "True")]}, False),
        ({"conditions": [condition("Reconciling", "False"), condition("Ready", "True")]}, True),
        ({"phase": "Running"}, True),
        ({"phase": "Pending"}, False),
        (None, False),
    ],
)
def test_an_object_is_ready_when_its_conditions_or_phase_say_so(status: dict[str, Any] | None, ready: bool) -> None:
    assert readiness(obj(status)).ready is ready


def test_the_reason_tells_phase_and_conditions() -> None:
    found = readiness(obj({"phase": "Failed", "conditions": [condition("Available", "False")]}))
    assert found.reason == "its phase is Failed; Available=False (Why: so)"


def test_a_phase_that_means_nothing_to_us_is_told_with_what_does() -> None:
    assert readiness(obj({"phase": "Fine"})).reason == (
        "its phase is Fine (it has neither a condition Ready or Available nor a phase "
        "Active, Bound, Complete, Ready, Running, Succeeded)"
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (obj({"phase": "Pending"}), "Pending"),
        (obj({"readyReplicas": 1}, replicas=3), "1/3"),
        (obj({"replicas": 0}, replicas=3), "0/3"),
        (obj(None, replicas=3), "created"),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "Terminating"),
    ],
)
def test_a_word_says_how_an_object_is(body: dict[str, Any], text: str) -> None:
    assert summary(body) == text


def read(tmp_path: Path, text: str) -> list[Any]:
    file = tmp_path / "objects.yaml"
    file.write_text(text)
    return read_manifests([file], Scheme())


def test_a_namespaced_object_goes_to_the_default_namespace(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n",
    )
    assert [(manifest.name, manifest.namespace) for manifest in found] == [("a", "default"), ("b", None)]


def test_times_and_dates_in_a_file_stay_text(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {at: 12:30, on: 2026-01-01, count: 1e3}\n"
    (found,) = read(tmp_path, text)
    assert found.body["data"] == {"at": "12:30", "true": "2026-01-01", "count": 1000}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "document 1: expected an object with apiVersion and kind, found a list"),
        ("kind: Pod\n", "document 1: apiVersion is missing"),
        ("apiVersion: v1\nkind: Pod\n", "document 1: metadata.name is missing"),
        ("apiVersion: v1\nkind: Wombat\nmetadata: {name: x}\n", "v1 Wombat is neither built in nor the operator's"),
        ("a: [\n", "is not YAML:"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Failure) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "objects.yaml" in str(caught.value)


def test_a_missing_file_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        read_manifests([tmp_path / "none.yaml"], Scheme())
    assert caught.value.exit_code == 2
