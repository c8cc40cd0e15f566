"""``kubewright cluster``: the embedded Kubernetes on its own."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from kubewright.cli.durations import Seconds
from kubewright.cli.failure import Failure
from kubewright.cli.interruption import interruptible
from kubewright.cli.variables import refuse_unknown
from kubewright.devcluster.cluster_files import ClusterStatus, state_directory
from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.process import ClusterOptions, start_background, status, stop

__all__ = ["command"]

T = TypeVar("T")


@click.group("cluster")
def command() -> None:
    """Start, stop and show the embedded cluster: a Kubernetes API server in memory, with controllers and simulated pods.

    Its files (kubeconfig, certificates, log) are in KUBEWRIGHT_HOME, default ~/.local/state/kubewright. What is created
    in it is gone when it stops.
    """


@command.command("up")
@click.option("--port", type=click.IntRange(1, 65535), help="Listen here.  [default: as last time, else a free one]")
@click.option(
    "--pod-ready-after",
    "ready_after",
    type=Seconds(),
    help="Seconds until a simulated pod is ready.  [default: 1]",
)
@click.option("--foreground", is_flag=True, help="Stay until Ctrl-C instead of going to the background.")
def up(port: int | None, ready_after: float | None, foreground: bool) -> None:
    """Start the cluster and print the line that points kubectl at it."""
    options = ClusterOptions(port=port, ready_after=ready_after)
    if foreground:
        _clean(lambda: _serve(options))
    else:
        with interruptible():  # nobody would know of a cluster that goes on starting
            found = _clean(lambda: start_background(_home(), options))
        _introduce(found)


@command.command("down")
def down() -> None:
    """Stop the cluster; what was created in it is gone."""
    stopped = _clean(lambda: stop(_home()))
    click.echo("stopped" if stopped else "no cluster is running")


@command.command("status")
def show() -> None:
    """Show whether the cluster runs, and where. Exits with 1 when it does not."""
    found = status(_home())
    if found.state == "stopped":
        click.echo("no cluster is running; start one with `kubewright cluster up`")
        sys.exit(1)
    _introduce(found)


def _serve(options: ClusterOptions) -> None:
    import asyncio  # noqa: PLC0415 - nothing that the cluster's own process loads is loaded before it starts, too

    from kubewright.devcluster.foreground import serve_foreground  # noqa: PLC0415
    from kubewright.telemetry import new_log  # noqa: PLC0415

    log = new_log("console", level="warning")
    asyncio.run(serve_foreground(_home(), options, ready=_introduce, log=log))


def _home() -> Path:
    refuse_unknown()
    return state_directory(os.environ)


def _introduce(found: ClusterStatus) -> None:
    since = f" since {found.started:%H:%M:%S} UTC" if found.started else ""
    click.echo(f"# cluster {found.state} at {found.server} (process {found.pid}{since})")
    click.echo(f"export KUBECONFIG={shlex.quote(str(found.kubeconfig))}")


def _clean(action: Callable[[], T]) -> T:
    try:
        return action()
    except ClusterError as error:
        raise Failure(str(error)) from error
