"""Website, version v1alpha1."""

from __future__ import annotations

from typing import Annotated

from kubewright import Column, Condition, Int32, Model, Resource, field, resource
from kubewright.api.markers import ListMap, Maximum, MaxLength, Minimum, MinLength, Pattern


class WebsiteSpec(Model):
    """What is wanted. Without a host, the page is served inside of the cluster only."""

    html: Annotated[str, MinLength(1)]
    replicas: Annotated[Int32, Minimum(1), Maximum(20)] = 1
    host: Annotated[str, Pattern(r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"), MaxLength(253)] | None = None
    tls: bool = False
    """Serve ``host`` by HTTPS, with the certificate in the Secret ``<name>-tls``."""


class WebsiteStatus(Model):
    """What was observed."""

    ready_replicas: Int32 | None = None
    url: str | None = None
    """Where the page can be seen from outside."""
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource(
    "web.example.com/v1alpha1",
    short_names=["site"],
    columns=[
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Replicas", ".status.readyReplicas", type="integer"),
        Column("URL", ".status.url"),
        Column("Age", ".metadata.creationTimestamp", type="date"),
    ],
)
class Website(Resource):
    """A page, and where it is served."""

    spec: WebsiteSpec
    status: WebsiteStatus = field(default_factory=WebsiteStatus)
