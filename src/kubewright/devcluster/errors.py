"""`ClusterError`: why an embedded cluster can't be started, found or stopped."""

from __future__ import annotations

__all__ = ["ClusterError"]


class ClusterError(Exception):
    """The message is one line for the user: what is wrong, where, and what to do about it."""
