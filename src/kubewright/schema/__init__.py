"""Structural schemas: validate, default and prune objects, with the API server's own wording of errors. No I/O.

Start with `Structural`; `FieldError` is what it finds and `invalid_status` what a server answers with.
`kubewright.schema.crd_definition` checks CustomResourceDefinitions themselves.
"""

from kubewright.schema.embedded import MalformedMetadata
from kubewright.schema.errors import FieldError, invalid_status
from kubewright.schema.structural import Structural

__all__ = ["FieldError", "MalformedMetadata", "Structural", "invalid_status"]
