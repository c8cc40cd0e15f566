"""What tests of the harness are written with."""

from __future__ import annotations

from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage

from kubewright import ObjectMeta

__all__ = ["DATABASE", "database"]


def database(name: str = "db", replicas: int = 2) -> Database:
    """One to create, in the namespace of the test."""
    return Database(
        metadata=ObjectMeta(name=name),
        spec=DatabaseSpec(replicas=replicas, engine="postgres", version="16", storage=Storage(size="1Gi")),
    )


DATABASE = database()
"""One to name."""
