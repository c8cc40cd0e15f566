"""Tokens of service accounts: what a TokenRequest gets, and whose a token is.

https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
"""

from __future__ import annotations

import hmac
import random
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.devcluster.store import GroupResource

if TYPE_CHECKING:
    from kubewright.api import Clock
    from kubewright.devcluster.store import Store

__all__ = ["AUDIENCE", "InvalidToken", "ServiceAccountTokens", "TokenOwner", "token_of"]

AUDIENCE = "https://kubernetes.default.svc"
"""Who a token is for unless it says otherwise: the API server."""

_ACCOUNTS = GroupResource("", "serviceaccounts")
_BOUND_TO = {"Pod": "pods", "Secret": "secrets"}
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class TokenOwner:
    """The service account that a token speaks for, and to whom."""

    namespace: str
    name: str
    uid: str
    audiences: tuple[str, ...]
    pod: Object | None = None
    """The Pod that the token is bound to, as the token names it."""

    @property
    def user_info(self) -> Object:
        user: Object = {
            "username": f"system:serviceaccount:{self.namespace}:{self.name}",
            "uid": self.uid,
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{self.namespace}", "system:authenticated"],
        }
        if self.pod is not None:
            prefix = "authentication.kubernetes.io/pod-"
            user["extra"] = {f"{prefix}{key}": [self.pod[key]] for key in ("name", "uid")}
        return user


class InvalidToken(ValueError):
    """The token is not from here, or no longer good. The text is what a TokenReview answers."""

    def __init__(self, why: str = "") -> None:
        super().__init__(f"[invalid bearer token, {why}]" if why else "invalid bearer token")


def token_of(authorization: str) -> str:
    """The token in an Authorization header; empty where it carries none."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class ServiceAccountTokens:
    """Issues and reads the tokens of one server, which are JWTs signed with a key that nobody else has.

    A token is good until it expires, or its service account, or what it is bound to, is gone.
    """

    def __init__(self, store: Store, *, clock: Clock, rng: random.Random) -> None:
        self._store = store
        self._clock = clock
        self._key = rng.randbytes(32)

    def issue(self, account: Object, *, audiences: list[str], seconds: int, bound: Object | None) -> tuple[str, int]:
        """A token, and when it expires in seconds of Unix time; ``bound`` is a BoundObjectReference.

        Raises `StatusError` where the token can't be bound to that.
        """
        now = int(self._clock.now().timestamp())
        namespace = namespace_of(account)
        private: Object = {
            "namespace": namespace,
            "serviceaccount": {"name": name_of(account), "uid": metadata_of(account)["uid"]},
        }
        if bound is not None:
            private[bound.get("kind", "").lower()] = self._bound(account, bound)
        claims = {
            "aud": audiences,
            "exp": now + seconds,
            "iat": now,
            "iss": AUDIENCE,
            "kubernetes.io": private,
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{name_of(account)}",
        }
        head = f"{_text(_encode({'alg': 'HS256'}))}.{_text(_encode(claims))}"
        return f"{head}.{self._signature(head)}", now + seconds

    def owner(self, token: str) -> TokenOwner:
        """Whose token it is. Raises `InvalidToken`."""
        head, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(head).encode()):
            raise InvalidToken
        claims = msgspec.json.decode(_bytes(head.partition(".")[2]))
        private = claims["kubernetes.io"]
        namespace, account, pod = private["namespace"], private["serviceaccount"], private.get("pod")
        if claims["exp"] <= self._clock.now().timestamp():
            raise InvalidToken("Token has expired")
        self._check_is_there(_ACCOUNTS, namespace, account)
        for kind, plural in _BOUND_TO.items():
            named = private.get(kind.lower())
            if named is not None:
                self._check_is_there(GroupResource("", plural), namespace, named)
        return TokenOwner(namespace, account["name"], account["uid"], tuple(claims["aud"]), pod)

    def _bound(self, account: Object, bound: Object) -> Object:
        kind, version, name = bound.get("kind") or "", bound.get("apiVersion") or "", bound.get("name") or ""
        plural = _BOUND_TO.get(kind)
        if plural is None or version != "v1":
            group, _, number = version.rpartition("/")
            raise bad_request(f"cannot bind token to object of type {group}/{number}, Kind={kind}")
        found = self._store.get(GroupResource("", plural), namespace_of(account), name)
        if found is None:
            details = {"name": name, "kind": plural}
            raise StatusError(status_body(404, "NotFound", f'{plural} "{name}" not found', details=details))
        if kind == "Pod" and ((found.get("spec") or {}).get("serviceAccountName") or "") != name_of(account):
            why = "to pod running with different serviceaccount name."
            raise bad_request(f'cannot bind token for serviceaccount "{name_of(account)}" {why}')
        uid = metadata_of(found)["uid"]
        if bound.get("uid") and bound["uid"] != uid:
            raise _other_object(kind, name, bound["uid"])
        return {"name": name, "uid": uid}

    def _check_is_there(self, resource: GroupResource, namespace: str, named: Any) -> None:
        found = self._store.get(resource, namespace, named["name"])
        if found is None:
            raise InvalidToken(f'{resource} "{named["name"]}" not found')
        if metadata_of(found).get("uid") != named["uid"]:
            raise InvalidToken

    def _signature(self, head: str) -> str:
        return _text(hmac.digest(self._key, head.encode(), sha256))


def _other_object(kind: str, name: str, uid: str) -> StatusError:
    why = (
        f"the UID in the bound object reference ({uid}) does not match the UID in record. "
        "The object might have been deleted and then recreated"
    )
    message = f'Operation cannot be fulfilled on {kind} "{name}": {why}'
    return StatusError(status_body(409, "Conflict", message, details={"name": name, "kind": kind}))


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
