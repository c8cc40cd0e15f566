"""What the bodies of PATCH requests are called.

https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply
"""

from __future__ import annotations

__all__ = ["APPLY", "JSON_PATCH", "MERGE_PATCH", "STRATEGIC"]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
"""JSON is YAML, and what is sent; a media type that says JSON is newer than some servers."""
