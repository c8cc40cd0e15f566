"""Retries, refusals and observation, on raw bytes."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from msgspec.structs import replace

from kubewright.api import (
    AlreadyExists,
    ApiError,
    DecodeError,
    Forbidden,
    NotFound,
    ResourceInfo,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unauthorized,
    resource_info,
)
from kubewright.client import Client, CredentialError, TransportError
from tests.unit.client.conftest import Script, Widget, answer, refusal, widget

WIDGETS = resource_info(Widget)
REFUSED = TransportError("connection refused", may_be_applied=False)


async def test_a_read_is_tried_again_when_the_connection_fails(
    client: Client, script: Script, slept: list[float]
) -> None:
    script.will_answer(REFUSED, REFUSED, answer(widget()))
    assert await client.rest.get(WIDGETS, "a", namespace="ns")
    assert len(slept) == 2
    assert 0.1 <= slept[0] <= 0.2 <= slept[1] <= 0.4


async def test_a_read_gives_up_in_the_end(client: Client, script: Script, slept: list[float]) -> None:
    script.will_answer(REFUSED, REFUSED, REFUSED)
    with pytest.raises(TransportError, match="connection refused"):
        await client.rest.get(WIDGETS, "a", namespace="ns")


async def test_a_write_is_never_sent_twice_when_the_connection_fails(client: Client, script: Script) -> None:
    script.will_answer(TransportError("connection reset", may_be_applied=True))
    with pytest.raises(TransportError) as caught:
        await client.rest.create(WIDGETS, b"{}", namespace="ns")
    assert caught.value.may_be_applied
    assert len(script.requests) == 1


async def test_a_write_that_was_not_sent_comes_again(client: Client, script: Script, slept: list[float]) -> None:
    script.will_answer(REFUSED, REFUSED, answer(widget(), 201))
    await client.rest.create(WIDGETS, b"{}", namespace="ns")
    assert len(slept) == 2
    script.will_answer(REFUSED, TransportError("connection reset", may_be_applied=True))
    with pytest.raises(TransportError, match="connection reset"):
        await client.rest.create(WIDGETS, b"{}", namespace="ns")


async def test_without_a_credential_nothing_is_tried_again(client: Client, script: Script) -> None:
    script.will_answer(CredentialError("no credential"))
    with pytest.raises(CredentialError, match="no credential"):
        await client.rest.get(WIDGETS, "a", namespace="ns")
    assert len(script.requests) == 1


async def test_waiting_ends_at_the_deadline(client: Client, script: Script) -> None:
    script.will_answer(refusal(429, "TooManyRequests", retry_after="30"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await client.rest.get(WIDGETS, "a", namespace="ns")


async def test_a_throttled_write_comes_again_when_it_was_told_to(
    client: Client, script: Script, slept: list[float]
) -> None:
    script.will_answer(refusal(429, "TooManyRequests", retry_after="2"), answer(widget(), 201))
    await client.rest.create(WIDGETS, b"{}", namespace="ns")
    assert 2.0 <= slept[0] <= 2.5


async def test_nobody_waits_for_long_whatever_the_server_asks(
    client: Client, script: Script, slept: list[float]
) -> None:
    script.will_answer(refusal(429, "TooManyRequests", retry_after="86400"), answer(widget()))
    await client.rest.get(WIDGETS, "a", namespace="ns")
    assert slept[0] <= 37.5


async def test_a_date_to_come_back_at_is_understood(client: Client, script: Script, slept: list[float]) -> None:
    past = refusal(429, "TooManyRequests", retry_after="Thu, 01 Jan 2026 00:00:00 GMT")
    script.will_answer(past, refusal(429, "TooManyRequests", retry_after="soon"))
    with pytest.raises(TooManyRequests):
        await client.rest.get(WIDGETS, "a", namespace="ns")
    assert slept == [0.0]


async def test_throttling_that_does_not_end_is_raised(client: Client, script: Script, slept: list[float]) -> None:
    script.will_answer(*[refusal(429, "TooManyRequests", "slow down", retry_after="1")] * 5)
    with pytest.raises(TooManyRequests, match="slow down") as caught:
        await client.rest.get(WIDGETS, "a", namespace="ns")
    assert caught.value.retry_after == 1
    assert len(slept) == 4


async def test_an_overloaded_server_is_asked_again_for_reads_only(
    client: Client, script: Script, slept: list[float]
) -> None:
    script.will_answer(refusal(503, "ServiceUnavailable", retry_after="1"), answer(widget()))
    await client.rest.get(WIDGETS, "a", namespace="ns")
    script.will_answer(refusal(503, "ServiceUnavailable", retry_after="1"))
    with pytest.raises(ApiError):
        await client.rest.create(WIDGETS, b"{}", namespace="ns")
    assert len(slept) == 1


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [(403, "Forbidden", Forbidden), (409, "AlreadyExists", AlreadyExists), (504, "Timeout", Timeout)],
)
async def test_a_refusal_is_an_exception_by_reason(
    client: Client, script: Script, code: int, reason: str, error: type[ApiError]
) -> None:
    script.will_answer(refusal(code, reason, "because"))
    with pytest.raises(error, match="because"):
        await client.rest.get(WIDGETS, "a", namespace="ns")


async def test_answers_of_no_api_server_become_errors_too(client: Client, script: Script) -> None:
    script.will_answer(answer(b"404 page not found\n", 404))
    with pytest.raises(NotFound, match="the server could not find the requested resource"):
        await client.rest.get(WIDGETS, "a", namespace="ns")
    script.will_answer(answer(b"<html><style>a {}</style><h1>Bad\ngateway</h1><hr>nginx</html>", 502))
    with pytest.raises(ServiceUnavailable, match=r"HTTP 502 \(Bad Gateway\): Bad gateway nginx$"):
        await client.rest.get(WIDGETS, "a", namespace="ns")
    script.will_answer(answer(b"\xff", 599))
    with pytest.raises(ApiError, match=r"HTTP 599 \(unknown status\): "):
        await client.rest.get(WIDGETS, "a", namespace="ns")


async def test_who_is_sent_elsewhere_has_not_done_what_it_asked(client: Client, script: Script) -> None:
    """As by a proxy that wants a login: the answer to a DELETE was taken for its success."""
    elsewhere = answer(b"", 302, location="https://login.example.com/?state=secret")
    said = r"HTTP 302 \(Found\) and points to https://login.example.com/: is there a proxy that wants a login\?$"
    script.will_answer(elsewhere, elsewhere, elsewhere)
    with pytest.raises(ApiError, match=said):
        await client.rest.delete(WIDGETS, "a", namespace="ns")
    with pytest.raises(ApiError, match=said):
        async with client.rest.watch(WIDGETS):
            pytest.fail("a watch was opened")
    with pytest.raises(ApiError, match=said):
        async with client.rest.websocket("/x", (), ("p",)):
            pytest.fail("a WebSocket was opened")


async def test_a_version_that_is_none_is_no_error_of_ours(client: Client, script: Script) -> None:
    script.will_answer(answer(b"<html>"))
    with pytest.raises(DecodeError, match="not a version"):
        await client.rest.version()


async def test_who_is_not_known_is_named(client: Client, script: Script) -> None:
    refused = replace(refusal(401, "Unauthorized", "Unauthorized"), refused_identity="user 'u' of f is not known")
    script.will_answer(refused, refused, refused)
    with pytest.raises(Unauthorized, match=r"^user 'u' of f is not known \(the server says: Unauthorized\)$"):
        await client.rest.get(WIDGETS, "a", namespace="ns")
    with pytest.raises(Unauthorized, match="user 'u' of f"):
        async with client.rest.watch(WIDGETS):
            pytest.fail("a refused watch was opened")
    with pytest.raises(Unauthorized, match="user 'u' of f"):
        async with client.rest.websocket("/x", (), ("p",)):
            pytest.fail("a refused WebSocket was opened")


async def test_an_answer_where_a_websocket_was_wanted_is_an_error(client: Client, script: Script) -> None:
    script.will_answer(answer(b"hello", 200))
    with pytest.raises(ApiError, match="answered HTTP 200 and opened no WebSocket; is there a proxy"):
        async with client.rest.websocket("/x", (), ("p",)):
            pytest.fail("no WebSocket was opened")


async def test_a_refused_watch_raises_and_is_closed(client: Client, script: Script) -> None:
    script.will_answer(refusal(403, "Forbidden", "no watching"))
    with pytest.raises(Forbidden, match="no watching"):
        async with client.rest.watch(WIDGETS):
            pytest.fail("a refused watch was opened")
    assert script.open_streams == 0


async def test_requests_carry_who_asks_and_what_is_sent(client: Client, script: Script) -> None:
    script.will_answer(answer(widget()))
    await client.rest.patch(WIDGETS, "a", b"{}", content_type="application/merge-patch+json", namespace="ns")
    assert script.last.headers == {
        "user-agent": "kubewright",
        "accept": "application/json",
        "content-type": "application/merge-patch+json",
    }


class Ear:
    def __init__(self, client: Client) -> None:
        self.heard: list[tuple[str, ...]] = []
        self.stop = client.observe(self._written, self._deleted)

    def _written(self, info: ResourceInfo, raw: bytes) -> None:
        self.heard.append((info.kind, msgspec.json.decode(raw)["metadata"]["resourceVersion"]))

    def _deleted(self, info: ResourceInfo, namespace: str, name: str, uid: str) -> None:
        self.heard.append((info.kind, namespace, name, uid))


async def test_who_observes_hears_of_writes_and_deletions(client: Client, script: Script) -> None:
    ear = Ear(client)
    waiting = widget(version="10")
    waiting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    script.will_answer(answer(widget(version="8")), answer(widget(version="9")), answer(waiting))
    await client.rest.get(WIDGETS, "a", namespace="ns")
    await client.rest.update(WIDGETS, "a", b"{}", namespace="ns")
    await client.rest.delete(WIDGETS, "a", namespace="ns")  # it has finalizers: the answer is the object
    gone = {"apiVersion": "v1", "kind": "Status", "status": "Success", "details": {"name": "a", "uid": "u1"}}
    script.will_answer(answer(gone))
    await client.rest.delete(WIDGETS, "a", namespace="ns")
    ear.stop()
    script.will_answer(answer(widget()))
    await client.rest.update(WIDGETS, "a", b"{}", namespace="ns")
    assert ear.heard == [("Widget", "9"), ("Widget", "10"), ("Widget", "ns", "a", "u1")]


async def test_an_object_that_a_delete_answers_with_as_it_was_is_gone(client: Client, script: Script) -> None:
    """Quotas, service accounts and a few more, of which servers answer no Status."""
    ear = Ear(client)
    script.will_answer(answer(widget(version="8")))
    await client.rest.delete(WIDGETS, "a", namespace="ns")
    assert ear.heard == [("Widget", "ns", "a", "u1")]


async def test_who_observes_hears_nothing_of_what_did_not_happen_to_the_object(client: Client, script: Script) -> None:
    ear = Ear(client)
    script.will_answer(answer(widget()), answer(widget()), refusal(409, "Conflict"))
    await client.rest.update(WIDGETS, "a", b"{}", namespace="ns", query=[("dryRun", "All")])
    await client.rest.patch(WIDGETS, "a", b"{}", content_type="x", namespace="ns", subresource="scale")
    with pytest.raises(ApiError):
        await client.rest.update(WIDGETS, "a", b"{}", namespace="ns")
    assert ear.heard == []
