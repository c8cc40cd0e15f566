"""Annotations as they are written: from Python 3.14 on asking for them looks up their names (PEP 649), which may not be there."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["annotations_as_written", "signature_as_written"]

if sys.version_info >= (3, 14):
    from annotationlib import Format, get_annotations

    def annotations_as_written(owner: type) -> dict[str, Any]:
        return get_annotations(owner, format=Format.STRING)

    def signature_as_written(function: Callable[..., object]) -> inspect.Signature:
        return inspect.signature(function, annotation_format=Format.STRING)

else:

    def annotations_as_written(owner: type) -> dict[str, Any]:
        """Those of the class itself; text, where its module has deferred them or they are quoted."""
        return inspect.get_annotations(owner)

    def signature_as_written(function: Callable[..., object]) -> inspect.Signature:
        """As `inspect.signature`."""
        return inspect.signature(function)
