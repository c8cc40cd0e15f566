"""`ApiServer`: one request in, one answer out.

The core knows neither sockets nor credentials: `in_process` and `https_front` bring requests to it.

Guarantees
    `ApiServer.handle` never waits between reading an object and writing it, so writes do not interleave. With the same
    clock, random numbers and order of requests it gives the same answers.

Errors
    None for a refused request: that is an answer too, with a Status for its body.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kubewright.api import Clock
from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.admission import INITIAL_NAMESPACES, NAMESPACES
from kubewright.devcluster.builtin.catalog import builtin_catalog
from kubewright.devcluster.catalog import Catalog
from kubewright.devcluster.compression import THRESHOLD, compressed, takes_gzip
from kubewright.devcluster.custom_resources import DEFINITIONS, CustomResources
from kubewright.devcluster.definition_strategy import DefinitionStrategy
from kubewright.devcluster.documents import ServerDocuments
from kubewright.devcluster.freshness import reached
from kubewright.devcluster.negotiation import encoded, of_error
from kubewright.devcluster.object_meta import new_uid
from kubewright.devcluster.reading import parse_revision
from kubewright.devcluster.registry import Registry, Write
from kubewright.devcluster.routing import route
from kubewright.devcluster.service_account_tokens import AUDIENCE, InvalidToken, ServiceAccountTokens
from kubewright.devcluster.statuses import PageNotFoundError, StatusError
from kubewright.devcluster.store import Store
from kubewright.devcluster.verbs import Answer, Call, Stream, Text, perform
from kubewright.devcluster.watching import Watches
from kubewright.schema.go_text import quoted

__all__ = ["ApiServer"]

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_NOT_YET = 504  # has one reason: a revision of the future
_PRETTY_AGENTS = ("curl", "Wget", "Mozilla/5.0")


class ApiServer:
    """A Kubernetes API server over its own store, with the namespaces that every cluster has.

    ``first_revision`` is where resource versions begin, by default a number made of the time, so that a server that
    starts anew never goes back to a revision that its clients have seen. ``address`` is the host:port that discovery
    names.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        rng: random.Random,
        catalog: Catalog | None = None,
        first_revision: int | None = None,
        retained: int = 10_000,
    ) -> None:
        if first_revision is None:
            first_revision = int(clock.now().timestamp() * 1_000_000)
        self.clock = clock
        self.catalog = builtin_catalog() if catalog is None else catalog
        self.store = Store(first_revision=first_revision, retained=retained)
        self.registry = Registry(self.store, clock=clock, rng=rng)
        self._audit = random.Random(rng.getrandbits(64))
        self.watches = Watches(self.store, rng=random.Random(rng.getrandbits(64)))
        self.tokens = ServiceAccountTokens(self.store, clock=clock, rng=random.Random(rng.getrandbits(64)))
        self.documents = ServerDocuments(self.catalog)
        definitions = self.catalog.find(DEFINITIONS.group, "v1", DEFINITIONS.plural)
        if definitions is not None:
            self.catalog.add(replace(definitions, strategy=DefinitionStrategy(definitions.strategy, clock)))
        self.custom_resources = CustomResources(self.registry, self.catalog, self.watches)
        self._create_namespaces()

    @property
    def address(self) -> str:
        return self.documents.address

    @address.setter
    def address(self, address: str) -> None:
        self.documents.address = address

    def _create_namespaces(self) -> None:
        resource = self.catalog.find("", "v1", NAMESPACES.plural)
        if resource is not None:
            for name in INITIAL_NAMESPACES:
                body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
                known, _ = resource.strategy.read(body)
                self.registry.create(resource, "", known, Write(manager="kube-apiserver"))

    def knows(self, token: str) -> bool:
        """Whether it is a token that this server has issued for itself, and that is still good."""
        try:
            return AUDIENCE in self.tokens.owner(token).audiences
        except InvalidToken:
            return False

    async def handle(self, request: HttpRequest) -> HttpResponse | StreamingResponse:
        """Answers one request. A streaming answer's chunks are to be closed (``aclose``) by whoever reads them."""
        found = self.answer(request)
        if found.status != _NOT_YET:
            return found
        await reached(self.store, parse_revision(dict(request.query)["resourceVersion"]))
        return self.answer(request)

    def answer(self, request: HttpRequest) -> HttpResponse | StreamingResponse:
        """The same without an event loop, which only the chunks of a watch need, and without waiting for a revision."""
        headers = {"audit-id": new_uid(self._audit), "cache-control": "no-cache, private"}
        try:
            found = self._answer(request, headers)
        finally:
            self.custom_resources.settle()
        if isinstance(found, HttpResponse):
            return _sent(request, found)
        return found

    def _answer(self, request: HttpRequest, headers: dict[str, str]) -> HttpResponse | StreamingResponse:
        where = route(request.method, request.path, request.query)
        if where is None:
            document = self.documents.answer(request)
            if document is None:
                return _page_not_found(headers)
            return HttpResponse(document.status, {**headers, **document.headers}, document.body)
        resource = self.catalog.find(where.group, where.version, where.plural)
        if where.beyond and (resource is None or not resource.custom):
            return _page_not_found(headers)
        if resource is None and all(each.custom for each in self.catalog if each.info.group == where.group):
            return _page_not_found(headers)
        pretty = _pretty(request)
        call = Call(request, where, resource, self.registry, self.watches, self.catalog, self.tokens, pretty=pretty)
        try:
            answer = perform(call)
        except PageNotFoundError:
            return _page_not_found(headers)
        except StatusError as error:
            form = of_error(request.headers, pretty=pretty)
            refused = {**headers, **error.headers, **_warnings(call.warnings)}
            return _encoded(Answer(error.code, error.body, form), refused)
        if call.warnings:
            headers |= _warnings(call.warnings)
        if isinstance(answer, Stream):
            headers |= {**answer.headers, "content-type": answer.media_type}
            return StreamingResponse(200, headers, answer.chunks)
        if isinstance(answer, Text):
            if answer.text is None:
                return HttpResponse(204, headers, b"")
            return HttpResponse(200, {**headers, "content-type": "text/plain"}, answer.text)
        return _encoded(answer, headers, written=self.store.encoded(answer.body))


def _sent(request: HttpRequest, found: HttpResponse) -> HttpResponse:
    """What of an answer goes out: to HEAD only what it would be; large ones compressed for those who can."""
    if request.method == "HEAD":
        return HttpResponse(found.status, found.headers, b"")
    if len(found.body) >= THRESHOLD and "etag" not in found.headers and takes_gzip(request.headers):
        headers = {**found.headers, "content-encoding": "gzip", "vary": "Accept-Encoding"}
        return HttpResponse(found.status, headers, compressed(found.body))
    return found


def _encoded(answer: Answer, headers: Mapping[str, str], *, written: bytes | None = None) -> HttpResponse:
    """``written`` is the body's JSON where the write that made it has encoded it already."""
    form = answer.representation
    body = written + b"\n" if written is not None and form.as_it_is else encoded(answer.body, form)
    return HttpResponse(answer.status, {**headers, "content-type": form.media_type}, body)


def _page_not_found(headers: Mapping[str, str]) -> HttpResponse:
    text = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    return HttpResponse(404, {**headers, **text}, b"404 page not found\n")


def _pretty(request: HttpRequest) -> bool:
    """People who look at answers with a browser or curl get them indented."""
    for key, value in request.query:
        if key == "pretty":
            return value in _TRUE if value else _looked_at(request)
    return _looked_at(request)


def _looked_at(request: HttpRequest) -> bool:
    return request.headers.get("user-agent", "").startswith(_PRETTY_AGENTS)


def _warnings(texts: Sequence[str]) -> dict[str, str]:
    if not texts:
        return {}
    return {"warning": ", ".join(f"299 - {quoted(text)}" for text in dict.fromkeys(texts))}
