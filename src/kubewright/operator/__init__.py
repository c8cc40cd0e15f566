"""`Operator` is the declaration, `Manager` runs it."""

from kubewright.operator.manager import Manager
from kubewright.operator.operator import Operator

__all__ = ["Manager", "Operator"]
