"""A process that campaigns with the official client's elector: `python elector.py KUBECONFIG NAMESPACE NAME IDENTITY`.

Says ``leading`` when it leads, and ends when it does not any more.
"""

from __future__ import annotations

import sys
import threading

from kubernetes import config
from kubernetes.leaderelection.electionconfig import Config
from kubernetes.leaderelection.leaderelection import LeaderElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD = 4, 3, 1


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main(kubeconfig: str, namespace: str, name: str, identity: str) -> None:
    config.load_kube_config(config_file=kubeconfig)

    def lead() -> None:
        say("leading")
        threading.Event().wait()

    LeaderElection(
        Config(
            LeaseLock(name, namespace, identity),
            lease_duration=LEASE_DURATION,
            renew_deadline=RENEW_DEADLINE,
            retry_period=RETRY_PERIOD,
            onstarted_leading=lead,
            onstopped_leading=lambda: say("lost"),
        )
    ).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
