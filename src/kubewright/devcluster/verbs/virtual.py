"""Resources that are questions rather than objects: what is posted to them is answered and not kept.

Everybody who reaches the cluster may do everything in it, and the answers say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubewright.devcluster.bodies import JSON
from kubewright.devcluster.incoming import object_of_body, placed
from kubewright.devcluster.negotiation import Representation
from kubewright.devcluster.objects import Object
from kubewright.devcluster.options import write_options
from kubewright.devcluster.verbs.call import Answer, Call

__all__ = ["answer_review", "is_review"]

_USER = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
_ALLOWED = {"allowed": True, "reason": "this cluster does not restrict its users"}
_RULES = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def _token_review(review: Object) -> Object:
    given = bool((review.get("spec") or {}).get("token"))
    return {"authenticated": False, **({"error": "this cluster issues no tokens"} if given else {})}


_STATUS: Mapping[tuple[str, str], Callable[[Object], Object]] = {
    ("authentication.k8s.io", "selfsubjectreviews"): lambda _: {"userInfo": _USER},
    ("authentication.k8s.io", "tokenreviews"): _token_review,
    ("authorization.k8s.io", "localsubjectaccessreviews"): lambda _: _ALLOWED,
    ("authorization.k8s.io", "selfsubjectaccessreviews"): lambda _: _ALLOWED,
    ("authorization.k8s.io", "selfsubjectrulesreviews"): lambda _: _RULES,
    ("authorization.k8s.io", "subjectaccessreviews"): lambda _: _ALLOWED,
}


def is_review(call: Call) -> bool:
    """Whether the call's resource is such a question."""
    info = call.resource.info
    return (info.group, info.plural) in _STATUS


def answer_review(call: Call) -> Answer:
    options = write_options(call.request.query, "CreateOptions")
    resource, request = call.resource, call.request
    review, warnings = object_of_body(resource, request.headers, request.body, options.field_validation)
    call.warnings += warnings
    review = placed(review, namespace=call.namespace)
    status = _STATUS[resource.info.group, resource.info.plural](review)
    return Answer(201, {**review, "status": status}, Representation(JSON, pretty=call.pretty))
