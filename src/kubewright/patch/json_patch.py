"""JSON Patch (RFC 6902): `apply` one as an API server does, or make one from an edit with `difference`.

https://datatracker.ietf.org/doc/html/rfc6902
"""

from kubewright.patch.difference import difference
from kubewright.patch.operations import MAX_OPERATIONS, apply, escape, unescape

__all__ = ["MAX_OPERATIONS", "apply", "difference", "escape", "unescape"]
