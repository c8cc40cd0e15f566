"""Resources that are questions rather than objects: what is posted to them is answered and not kept.

Everybody who reaches the cluster may do everything in it, and the answers say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kubewright.devcluster.bodies import JSON
from kubewright.devcluster.incoming import object_of_body, placed
from kubewright.devcluster.negotiation import Representation
from kubewright.devcluster.objects import Object
from kubewright.devcluster.options import write_options
from kubewright.devcluster.service_account_tokens import AUDIENCE, InvalidToken, token_of
from kubewright.devcluster.statuses import bad_request
from kubewright.devcluster.verbs.call import Answer, Call
from kubewright.schema.go_text import quoted

__all__ = ["answer_review", "is_review"]

_USER = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
_ALLOWED = {"allowed": True, "reason": "this cluster does not restrict its users"}
_RULES = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}


def _token_review(call: Call, review: Object) -> Object:
    spec = review.get("spec") or {}
    if not spec.get("token"):
        raise bad_request("token is required for TokenReview in authentication")
    try:
        owner = call.tokens.owner(spec["token"])
    except InvalidToken as error:
        return {"user": {}, "error": str(error)}
    audiences = [each for each in owner.audiences if each in (spec.get("audiences") or [AUDIENCE])]
    if not audiences:
        issued, wanted = _listed(owner.audiences), _listed(spec.get("audiences") or [AUDIENCE])
        why = f"token audiences {issued} is invalid for the target audiences {wanted}"
        return {"user": {}, "error": str(InvalidToken(why))}
    return {"authenticated": True, "user": owner.user_info, "audiences": audiences}


def _listed(audiences: Sequence[str]) -> str:
    return f"[{' '.join(quoted(each) for each in audiences)}]"


def _self_review(call: Call, _: Object) -> Object:
    """The front lets in nobody else but who has the cluster's own token."""
    try:
        owner = call.tokens.owner(token_of(call.request.headers.get("authorization", "")))
    except InvalidToken:
        return {"userInfo": _USER}
    return {"userInfo": owner.user_info}


_STATUS: Mapping[tuple[str, str], Callable[[Call, Object], Object]] = {
    ("authentication.k8s.io", "selfsubjectreviews"): _self_review,
    ("authentication.k8s.io", "tokenreviews"): _token_review,
    ("authorization.k8s.io", "localsubjectaccessreviews"): lambda *_: _ALLOWED,
    ("authorization.k8s.io", "selfsubjectaccessreviews"): lambda *_: _ALLOWED,
    ("authorization.k8s.io", "selfsubjectrulesreviews"): lambda *_: _RULES,
    ("authorization.k8s.io", "subjectaccessreviews"): lambda *_: _ALLOWED,
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
    status = _STATUS[resource.info.group, resource.info.plural](call, review)
    return Answer(201, {**review, "status": status}, Representation(JSON, pretty=call.pretty))
