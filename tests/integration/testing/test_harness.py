"""The harness on the Database example."""

from __future__ import annotations

from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage
from database_operator.operator import operator

from kubewright import ObjectMeta
from kubewright.testing import OpenHarness


def database(name: str = "db", replicas: int = 2) -> Database:
    return Database(
        metadata=ObjectMeta(name=name),
        spec=DatabaseSpec(replicas=replicas, engine="postgres", version="16", storage=Storage(size="1Gi")),
    )


async def test_an_operator_settles(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    await here.assert_object(database(), {"status": {"phase": "Running", "readyReplicas": 2}})
    assert here.history(database()).values("status.phase")[1:] == ["Pending", "Running"]
