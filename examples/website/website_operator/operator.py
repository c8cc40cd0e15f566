"""The operator: a Website comes up in steps, each of which waits for the one before."""

from __future__ import annotations

from kubewright import Context, Operator
from kubewright.controller.workflow import NotReady, Step, Workflow
from kubewright.kinds import apps_v1, core_v1, networking_v1
from website_operator import desired
from website_operator.api.v1alpha1 import Website

operator = Operator("website-operator")


def is_rolled_out(deployment: apps_v1.Deployment) -> bool | NotReady:
    """Nobody is sent to a page that is not there yet."""
    status, wanted = deployment.status, deployment.spec.replicas or 0
    if (status.observed_generation or 0) < (deployment.metadata.generation or 0):
        return NotReady("the change has not been seen yet")
    ready = min(status.updated_replicas or 0, status.available_replicas or 0)
    return ready >= wanted or NotReady(f"{ready}/{wanted} replicas are up to date and available")


def has_a_host(site: Website) -> bool:
    return site.spec.host is not None


site_in_steps = Workflow(
    Step.apply("content", desired.content),
    Step.apply("deployment", desired.deployment, after=["content"], ready=is_rolled_out),
    Step.apply("service", desired.service, after=["deployment"]),
    Step.apply("ingress", desired.ingress, after=["service"], when=has_a_host),
    condition="Ready",
)


@operator.controller(Website, owns=[core_v1.ConfigMap, apps_v1.Deployment, core_v1.Service, networking_v1.Ingress])
async def reconcile(site: Website, ctx: Context) -> None:
    await site_in_steps.run(site, ctx)
    deployment = ctx.get(apps_v1.Deployment, site.name)
    site.status.ready_replicas = (deployment.status.ready_replicas or 0) if deployment else 0
    site.status.url = url(ctx.get(networking_v1.Ingress, site.name))


def url(ingress: networking_v1.Ingress | None) -> str | None:
    """Where the Ingress that is there leads to, be it that of an earlier state of the Website."""
    if ingress is None or not ingress.spec.rules:
        return None
    return f"{'https' if ingress.spec.tls else 'http'}://{ingress.spec.rules[0].host}/"
