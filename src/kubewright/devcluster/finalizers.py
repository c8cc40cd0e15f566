"""The finalizers that an API server itself gives and knows.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
"""

from __future__ import annotations

__all__ = ["FOREGROUND", "ORPHAN", "STANDARD_FINALIZERS"]

FOREGROUND = "foregroundDeletion"
"""Of an object that waits until its dependents are gone."""
ORPHAN = "orphan"
"""Of an object whose dependents lose it as an owner, and stay."""
STANDARD_FINALIZERS = frozenset({FOREGROUND, ORPHAN, "kubernetes"})
"""Those that may be without a domain: ``kubernetes`` is a Namespace's."""
