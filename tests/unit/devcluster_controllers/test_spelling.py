"""Durations, sizes, image names, addresses and hashes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kubewright.api import ObjectMeta
from kubewright.devcluster.controllers.hashing import template_hash
from kubewright.devcluster.controllers.kubelet.addresses import Addresses
from kubewright.devcluster.controllers.kubelet.durations import format_duration, parse_duration
from kubewright.devcluster.controllers.kubelet.images import full_image_name, image_id
from kubewright.devcluster.controllers.volumes.sizes import amount
from kubewright.kinds import core_v1


@pytest.mark.parametrize(
    ("text", "seconds"), [("5s", 5), ("1m30s", 90), ("500ms", 0.5), ("1.5h", 5400), ("0", 0), (" 2s ", 2)]
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "s", "-1s", "5 s", "1d", "soon"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        parse_duration(text)


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (160, "2m40s"), (300, "5m0s"), (3600, "1h0m0s")])
def test_durations_are_printed_as_go_prints_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("postgres:16", "docker.io/library/postgres:16"),
        ("bitnami/redis", "docker.io/bitnami/redis:latest"),
        ("ghcr.io/org/app:v1", "ghcr.io/org/app:v1"),
        ("localhost:5000/app", "localhost:5000/app:latest"),
        ("nginx@sha256:abc", "docker.io/library/nginx@sha256:abc"),
    ],
)
def test_images_have_a_full_name(image: str, full: str) -> None:
    assert full_image_name(image) == full
    assert image_id(image) == image_id(full)


@pytest.mark.parametrize(
    ("quantity", "number"),
    [("1Ki", 1024), ("1k", 1000), ("500m", Decimal("0.5")), ("2Gi", 2 * 1024**3), (7, 7), ("much", 0)],
)
def test_quantities_have_a_size(quantity: str | int, number: Decimal) -> None:
    assert amount(quantity) == number


def test_an_address_is_kept_until_its_pod_is_gone() -> None:
    addresses = Addresses("10.0.0.0/29")
    taken = [addresses.take(uid) for uid in "abcde"]
    assert taken == [f"10.0.0.{number}" for number in (2, 3, 4, 5, 6)]
    assert addresses.take("c") == "10.0.0.4"
    with pytest.raises(RuntimeError, match="no free address"):
        addresses.take("f")
    addresses.release("c")
    addresses.release("c")
    assert addresses.take("f") == "10.0.0.4"


def test_equal_templates_have_equal_hashes() -> None:
    def template(image: str) -> core_v1.PodTemplateSpec:
        return core_v1.PodTemplateSpec(
            metadata=ObjectMeta(labels={"a": "1"}),
            spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image=image)]),
        )

    assert template_hash(template("a")) == template_hash(template("a"))
    assert template_hash(template("a")) != template_hash(template("b"))
    assert template_hash(template("a")) != template_hash(template("a"), 1)
    assert len(template_hash(template("a"))) == 10
