"""`Call`: a request, the resource it is about, and the parts of the server that answer it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kubewright.devcluster.negotiation import Representation, negotiate
from kubewright.devcluster.objects import Object
from kubewright.devcluster.presentation import Presenter
from kubewright.devcluster.registry import Write

if TYPE_CHECKING:
    from kubewright.client.transport import HttpRequest
    from kubewright.devcluster.catalog import Catalog, ServedResource
    from kubewright.devcluster.options import WriteOptions
    from kubewright.devcluster.registry import Registry
    from kubewright.devcluster.routing import Route
    from kubewright.devcluster.service_account_tokens import ServiceAccountTokens
    from kubewright.devcluster.watching import Watches

__all__ = ["Answer", "Call", "Stream", "Text"]

_LONGEST_MANAGER = 128


class Answer(Struct, frozen=True):
    """A whole answer, yet to be encoded."""

    status: int
    body: Any
    representation: Representation


class Stream(Struct, frozen=True):
    """An answer in chunks."""

    chunks: AsyncIterator[bytes]
    media_type: str
    headers: Mapping[str, str] = {}


class Text(Struct, frozen=True):
    """A whole answer that is no object; nothing at all if ``text`` is None."""

    text: bytes | None


class Call(Struct, eq=False):
    """One request on its way through the server; ``warnings`` grows as it goes."""

    request: HttpRequest
    route: Route
    found: ServedResource | None
    """None where no such resource is served, in a group that is."""
    registry: Registry
    watches: Watches
    catalog: Catalog
    tokens: ServiceAccountTokens
    pretty: bool = False
    warnings: list[str] = []
    _representation: Representation | None = None

    @property
    def resource(self) -> ServedResource:
        if self.found is None:
            raise LookupError(f"{self.route} is not served")
        return self.found

    @property
    def namespace(self) -> str:
        return self.route.namespace

    @property
    def name(self) -> str:
        return self.route.name

    @property
    def representation(self) -> Representation:
        """The form of the answer; raises `StatusError` (406)."""
        found = self._representation
        if found is None:
            found = negotiate(self.request.headers, watch=self.route.verb == "watch", pretty=self.pretty)
            self._representation = found
        return found

    def presenter(self) -> Presenter:
        """What gives objects that form."""
        now = self.registry.clock.now()
        return Presenter(self.resource, self.representation, self.request.query, now)

    def manager(self, options: WriteOptions) -> str:
        """Who writes: the field manager that the request names, else the program that sends it."""
        if options.field_manager:
            return options.field_manager
        program = self.request.headers.get("user-agent", "").partition("/")[0]
        if not program.isprintable():
            program = "".join(char for char in program if char.isprintable())
        return program[:_LONGEST_MANAGER]

    def write(self, options: WriteOptions, *, tracked: bool = False, subresource: str | None = None) -> Write:
        """How this call writes."""
        return Write(
            manager=self.manager(options),
            subresource=self.route.subresource if subresource is None else subresource,
            dry_run=options.dry_run,
            tracked=tracked,
        )

    def answer(self, obj: Object, status: int = 200) -> Answer:
        """An object, in the form that was asked for."""
        form = self.representation
        return Answer(status, self.presenter().one(obj) if form.form else obj, form)

    def plain(self, body: Any, status: int = 200) -> Answer:
        """A body that has only one form, such as a Status."""
        return Answer(status, body, Representation(self.representation.media_type, pretty=self.pretty))
