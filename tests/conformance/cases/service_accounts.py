"""Tokens of service accounts: what a TokenRequest and a TokenReview are answered."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import CORE, PODS, pod, show
from tests.conformance.registry import case
from tests.conformance.world import World

ACCOUNTS = f"{CORE}/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_APART = ["metadata", "status.token", "status.expirationTimestamp"]


def _request(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}


def _review(token: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, **spec}}


async def _account(w: World) -> str:
    await w.create(ACCOUNTS, {"metadata": {"name": "robot"}})
    return f"{ACCOUNTS}/robot/token"


@case("create", given="a service account", body="a TokenRequest, with and without what it may say", truth="1.20")
async def token(w: World) -> None:
    path = await _account(w)
    for label, body in (
        ("all", _request(audiences=["a", "b"], expirationSeconds=600)),
        ("nothing", _request()),
        ("an empty body", {}),
    ):
        show(w, label, await w.create(path, body), without=_APART)
    answer = await w.create(path, _request())
    w.transcript.add("token", parts=len(answer["status"]["token"].split(".")))


@case("create", given="a service account", body="a TokenRequest that is refused", truth="1.20")
async def token_refused(w: World) -> None:
    path = await _account(w)
    await w.create(PODS, pod("a"))
    for label, body in (
        ("too short", _request(expirationSeconds=599)),
        ("too long", _request(expirationSeconds=2**32 + 1)),
        ("bound to nothing", _request(boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "none"})),
        ("bound to no Secret", _request(boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "none"})),
        ("bound to a ConfigMap", _request(boundObjectRef={"kind": "ConfigMap", "apiVersion": "v1", "name": "a"})),
        ("bound to a Pod of another", _request(boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "a"})),
        ("another kind", {"apiVersion": "v1", "kind": "Pod"}),
    ):
        show(w, label, await w.create(path, body))
    show(w, "of nothing", await w.create(f"{ACCOUNTS}/none/token", _request()))
    for method in ("GET", "PUT", "DELETE"):
        show(w, method, await w.send(method, path, _request() if method == "PUT" else None))


@case("create", given="a token", body="a TokenReview of it", truth="1.20")
async def review(w: World) -> None:
    path = await _account(w)
    apart = ["metadata", "spec.token"]
    mine = (await w.create(path, _request()))["status"]["token"]
    show(w, "mine", await w.create(REVIEWS, _review(mine)), without=apart)
    show(w, "for others", await w.create(REVIEWS, _review(mine, audiences=["x"])), without=apart)
    theirs = (await w.create(path, _request(audiences=["a", "b"])))["status"]["token"]
    show(w, "theirs", await w.create(REVIEWS, _review(theirs)), without=apart)
    show(w, "for them", await w.create(REVIEWS, _review(theirs, audiences=["b", "c"])), without=apart)
    show(w, "no token", await w.create(REVIEWS, _review("x")), without=apart)
    show(w, "nothing", await w.create(REVIEWS, _review("")), without=apart)
    fresh = (await w.create(path, _request(expirationSeconds=700)))["status"]["token"]
    await w.delete(f"{ACCOUNTS}/robot")
    show(w, "of an account that is gone", await w.create(REVIEWS, _review(fresh)), without=apart)
