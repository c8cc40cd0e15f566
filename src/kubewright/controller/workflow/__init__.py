"""Workflows: reconciling in steps, where some have to wait for others.

    site = Workflow(
        Step.apply("content", desired.config_map),
        Step.apply("deployment", desired.deployment, after=["content"], ready=is_available),
        Step.apply("service", desired.service, after=["deployment"]),
        Step.apply("ingress", desired.ingress, after=["service"], when=has_a_host),
        condition="Ready",
    )

    @operator.controller(Website, owns=[ConfigMap, Deployment, Service, Ingress])
    async def reconcile(website: Website, ctx: Context) -> None:
        await site.run(website, ctx)

Start with `Workflow`, which says what happens when, and `Step`.
"""

from kubewright.controller.workflow.outcome import Outcome, StepOutcome, StepState
from kubewright.controller.workflow.steps import STEP, NotReady, Step
from kubewright.controller.workflow.workflow import Workflow

__all__ = ["STEP", "NotReady", "Outcome", "Step", "StepOutcome", "StepState", "Workflow"]
