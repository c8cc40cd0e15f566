"""Tokens of service accounts: whom they speak for, and for how long."""

from __future__ import annotations

from typing import Any

CORE = "/api/v1/namespaces/default"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def token(api: Any, **spec: Any) -> str:
    reply = api.post(f"{CORE}/serviceaccounts/robot/token", {"spec": spec})
    assert reply.status == 201
    found: str = reply.body["status"]["token"]
    return found


def reviewed(api: Any, issued: str) -> dict[str, Any]:
    status: dict[str, Any] = api.post(REVIEWS, {"spec": {"token": issued}}).body["status"]
    return status


def test_a_token_says_when_it_expires_and_is_no_good_from_then_on(api: Any) -> None:
    api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "robot"}})
    reply = api.post(f"{CORE}/serviceaccounts/robot/token", {"spec": {"expirationSeconds": 600}})
    assert reply.body["status"]["expirationTimestamp"] == "2026-01-01T00:10:00Z"
    assert (reply.body["metadata"]["name"], reply.body["metadata"]["namespace"]) == ("robot", "default")
    issued = reply.body["status"]["token"]
    api.clock.move(599)
    assert reviewed(api, issued)["user"]["username"] == "system:serviceaccount:default:robot"
    assert api.server.knows(issued)
    api.clock.move(1)
    assert reviewed(api, issued)["error"] == "[invalid bearer token, Token has expired]"
    assert not api.server.knows(issued)


def test_a_token_ends_with_its_account_though_another_takes_the_name(api: Any) -> None:
    api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "robot"}})
    issued = token(api)
    api.delete(f"{CORE}/serviceaccounts/robot")
    api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "robot"}})
    assert not api.server.knows(issued)
    assert api.server.knows(token(api))


def test_a_token_ends_with_what_it_is_bound_to(api: Any) -> None:
    api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "robot"}})
    uid = api.post(f"{CORE}/secrets", {"metadata": {"name": "a"}}).body["metadata"]["uid"]
    reference = {"kind": "Secret", "apiVersion": "v1", "name": "a", "uid": uid}
    issued = token(api, boundObjectRef=reference)
    assert api.server.knows(issued)
    wrong = {**reference, "uid": "other"}
    reply = api.post(f"{CORE}/serviceaccounts/robot/token", {"spec": {"boundObjectRef": wrong}})
    assert (reply.status, reply.body["reason"]) == (409, "Conflict")
    api.delete(f"{CORE}/secrets/a")
    assert not api.server.knows(issued)


def test_a_token_for_others_or_changed_by_a_letter_does_not_open_the_server(api: Any) -> None:
    api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "robot"}})
    assert not api.server.knows(token(api, audiences=["vault"]))
    issued = token(api)
    other = "B" if issued[100] == "A" else "A"
    assert not api.server.knows(issued[:100] + other + issued[101:])
    for text in ("", ".", "..", "a.b.c", "ä"):
        assert not api.server.knows(text)
