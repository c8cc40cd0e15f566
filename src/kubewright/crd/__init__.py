"""From declared types to CustomResourceDefinitions. No I/O.

Start with `definition`, which makes the definition of a kind; `schema_of` makes the schema of one model.
"""

from kubewright.crd.definition import definition
from kubewright.crd.schema import SchemaError, schema_of

__all__ = ["SchemaError", "definition", "schema_of"]
