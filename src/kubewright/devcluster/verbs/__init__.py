"""What a request asks for, done: one function per verb. Start with `call` (a request and what it is about)."""

from kubewright.devcluster.verbs.call import Answer, Call, Stream, Text
from kubewright.devcluster.verbs.dispatch import perform

__all__ = ["Answer", "Call", "Stream", "Text", "perform"]
