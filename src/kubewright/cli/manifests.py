"""``kubewright manifests``: what a cluster needs to run an operator, as YAML."""

from __future__ import annotations

import click

from kubewright.api.names import check_dns_label
from kubewright.cli.failure import Failure
from kubewright.cli.loading import load_operator
from kubewright.cli.variables import refuse_unknown
from kubewright.manifests import manifests, to_yaml
from kubewright.operator.namespaces import checked_namespaces
from kubewright.operator.settings import resolve

__all__ = ["command"]


@click.command("manifests")
@click.argument("target")
@click.option("--image", help="The operator's container image.  [default: OPERATOR:latest]")
@click.option("--namespace", help="Where the operator itself runs.  [default: OPERATOR-system]")
@click.option(
    "--watch-namespace",
    "watched",
    multiple=True,
    help="Where the operator works; may be given more than once.  [default: as it declares, else everywhere]",
)
@click.option(
    "--metrics-bind-address",
    "metrics",
    metavar="ADDRESS",
    help="Where /metrics is served, such as :8080; 0: nowhere.  [default: as the operator's settings have it]",
)
@click.option(
    "--deployment/--no-deployment",
    "deployed",
    default=True,
    help="Whether the operator's Deployment, and the Service of its metrics, are among them.  [default: they are]",
)
def command(
    target: str, image: str | None, namespace: str | None, watched: tuple[str, ...], metrics: str | None, deployed: bool
) -> None:
    """Print the CRDs, RBAC and Deployment of the operator TARGET ("module:attribute" or "file.py:attribute").

    All of it is derived from the operator's declarations; pipe it into kubectl apply -f -. An operator that works in
    certain namespaces gets a Role in each of them in place of a ClusterRole; one that serves metrics gets a Service for
    them.
    """
    refuse_unknown()
    operator, module = load_operator(target)
    try:
        settings = resolve(operator.settings, {}, {"metrics_bind_address": metrics}).settings
        scope = checked_namespaces(watched, what="--watch-namespace") if watched else None
        if namespace is not None:
            check_dns_label(namespace, what="--namespace")
    except (TypeError, ValueError) as error:
        raise Failure(str(error), exit_code=2) from error
    try:
        documents = manifests(
            operator,
            target=module,
            image=image,
            namespace=namespace,
            watched=scope,
            settings=settings,
            deployed=deployed,
        )
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from error
    click.echo(to_yaml(documents), nl=False)
