"""``kubewright run``: an operator against the cluster that the kubeconfig, or the pod it runs in, points to."""

from __future__ import annotations

import asyncio
import os
import random
from typing import Literal

import click

from kubewright.api import ApiError, SystemClock, Unauthorized
from kubewright.cli.failure import Failure
from kubewright.cli.loading import load_operator
from kubewright.cli.signals import stop_on_signals
from kubewright.client import Client, CredentialError, TransportError
from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.operator import Manager, Operator, watched_namespaces
from kubewright.telemetry import Log, new_log

__all__ = ["command"]


@click.command("run")
@click.argument("target")
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Which kubeconfig file.  [default: as kubectl]")
@click.option("--context", help="Which context of the kubeconfig.  [default: its current one]")
@click.option("--log-format", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True
)
def command(
    target: str, kubeconfig: str | None, context: str | None, log_format: Literal["console", "json"], log_level: str
) -> None:
    """Run the operator TARGET ("module:attribute" or "file.py:attribute") until it is stopped.

    The cluster is that of --kubeconfig, else of KUBECONFIG, else the one this pod runs in, else ~/.kube/config. The
    operator's CRDs must be there (kubewright manifests prints them); while one is missing, the operator says so and waits.
    The environment variable WATCH_NAMESPACE ("a,b") names where it works, in place of what the operator declares.
    """
    operator = load_operator(target).operator
    try:
        namespaces = watched_namespaces(os.environ)
    except ValueError as error:
        raise Failure(str(error)) from error
    try:
        config = load(kubeconfig, context=context)
    except ConfigError as error:
        raise Failure(str(error)) from error
    try:
        asyncio.run(_run(operator, config, namespaces, new_log(log_format, level=log_level)))
    except asyncio.CancelledError as error:
        raise Failure("stopped at the second signal; runs in flight were cancelled", exit_code=130) from error


async def _run(operator: Operator, config: ClusterConfig, namespaces: tuple[str, ...] | None, log: Log) -> None:
    clock, rng = SystemClock(), random.Random()
    try:
        transport = HttpsTransport(config, clock=clock, log=log)
    except ConfigError as error:
        raise Failure(str(error)) from error
    client = Client(transport, field_manager=operator.name, clock=clock, rng=rng, log=log)
    try:
        await _greet(client, config, log)
        manager = Manager(operator, client, clock=clock, rng=rng, log=log, namespaces=namespaces)
        with stop_on_signals(manager.stop):
            await manager.run()
    finally:
        await client.close()


async def _greet(client: Client, config: ClusterConfig, log: Log) -> None:
    """Fails at once where no API server answers, instead of retrying a typo for ever."""
    try:
        version = await client.rest.version()
        await client.rest.authenticate()
    except (CredentialError, Unauthorized) as error:  # which say whose credentials they are
        raise Failure(str(error)) from error
    except TransportError as error:
        raise Failure(f"no API server at {config.server} ({config.source}): {error}") from error
    except ApiError as error:
        raise Failure(f"{config.server} refused us (credentials of {config.source}): {error}") from error
    log.info("connected", server=config.server, version=version)
