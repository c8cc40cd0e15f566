"""An intent's quantities are compared as servers write them."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import Model, Quantity, Resource, field, resource
from kubewright.controller.quantities_written import as_written
from kubewright.kinds import apps_v1, autoscaling_v2, core_v1


class LimitedSpec(Model):
    cpu: Quantity | None = None


@resource("example.com/v1")
class Limited(Resource):
    spec: LimitedSpec = field(default_factory=LimitedSpec)


def deployment(**requests: object) -> dict[str, Any]:
    """With texts that would be quantities elsewhere."""
    container = {"name": "1000m", "args": ["1000m"], "resources": {"requests": requests}}
    labels = {"cpu": "1000m"}
    template = {"metadata": {"annotations": labels}, "spec": {"containers": [container], "nodeSelector": labels}}
    return {"metadata": {"labels": labels}, "spec": {"replicas": 1, "template": template}}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("1000m", "1"), ("0.5", "500m"), (2, "2"), (0.25, "250m"), ("1024Mi", "1Gi"), ("1Gi", "1Gi"), ("1e3", "1e3")],
)
def test_quantities_are_written_as_servers_write_them_and_nothing_else_is(sent: object, kept: str) -> None:
    assert as_written(deployment(cpu=sent), apps_v1.Deployment) == deployment(cpu=kept)


def test_they_are_found_in_lists_maps_and_what_is_optional() -> None:
    claims = [{"spec": {"resources": {"requests": {"storage": "1024Mi"}}}, "status": {}}]
    written = as_written({"spec": {"volumeClaimTemplates": claims}}, apps_v1.StatefulSet)
    assert written["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    metric = {"resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1000m"}}}
    written = as_written({"spec": {"metrics": [metric]}}, autoscaling_v2.HorizontalPodAutoscaler)
    assert written["spec"]["metrics"][0]["resource"]["target"]["averageValue"] == "1"
    assert as_written({"spec": {"hard": {"pods": 10}}}, core_v1.ResourceQuota) == {"spec": {"hard": {"pods": "10"}}}


@pytest.mark.parametrize(
    "body", [deployment(cpu="1"), deployment(cpu="much"), deployment(cpu=None), {"spec": None}, {}]
)
def test_what_is_written_so_already_or_no_quantity_stays_itself(body: dict[str, Any]) -> None:
    assert as_written(body, apps_v1.Deployment) is body


def test_custom_resources_are_kept_as_they_were_sent() -> None:
    body = {"spec": {"cpu": "1000m"}}
    assert as_written(body, Limited) is body
