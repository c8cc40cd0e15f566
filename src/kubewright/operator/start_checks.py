"""`StartChecks`: whether the server has, and lets us do, what the operator declares; asked at the start and again and again.

Guarantees
    Nothing here keeps an operator from starting or ends it. What is missing is said once, in one line that has the
    commands that mend it, and again when it changes; what is mended is found within half a minute.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from kubewright.api import ApiError, DecodeError, Forbidden, NotFound, ResourceInfo
from kubewright.cache import Cache, InformerState
from kubewright.client import Client, TransportError
from kubewright.client.discovery import UnknownKind
from kubewright.kinds import authentication_v1, authorization_v1
from kubewright.operator.access import Need, lease_need
from kubewright.operator.health import Check
from kubewright.operator.remedies import Missing, grants, installs
from kubewright.telemetry import Log

__all__ = ["Findings", "StartChecks"]

_AGAIN_AFTER = (2.0, 30.0)
"""Seconds between looks while something is missing: at first, and at most."""
_ALL_WELL = 300.0
"""Seconds between looks while nothing is, as permissions can be taken away without a sign."""
_CONCURRENT = 8
"""Questions at a time in the first look, which somebody may wait for. Later ones hurry nobody, and are asked one by one: each
more at a time would open one more connection each time, of a quarter of a megabyte.
"""
_USER = re.compile(r'User "([^"]+)"')


class Findings(Struct, frozen=True):
    """What one look brought."""

    unserved: tuple[str, ...] = ()
    """Kinds that the server does not have, or not as declared, each with why."""
    forbidden: tuple[Missing, ...] = ()
    identity: str | None = None
    """Who the server takes us for, where something is forbidden and it can be known."""

    @property
    def reasons(self) -> list[str]:
        return [*self.unserved, *(f"not allowed: {each}" for each in self.forbidden)]


class StartChecks:
    """Runs the checks of one manager."""

    def __init__(
        self,
        client: Client,
        cache: Cache,
        needs: Sequence[Need],
        *,
        operator: str,
        namespaces: Sequence[str] | None = None,
        lease: tuple[str, str] | None = None,
        target: str | None = None,
        optional: Sequence[ResourceInfo] = (),
        in_trouble: Callable[[], bool] = lambda: False,
        rng: random.Random,
        log: Log,
    ) -> None:
        """``lease`` is namespace and name of the one by which leaders are elected, None without election. ``target`` is
        the operator as the command line names it, for remedies; ``optional`` kinds may be missing. ``in_trouble`` says
        that something fails, perhaps for want of a permission: then it looks sooner.
        """
        self._client = client
        self._cache = cache
        self._lease, self._lease_need = lease, lease_need()
        self._needs = [*needs] if lease is None else [*needs, self._lease_need]
        self._operator = operator
        self._namespaces = namespaces
        self._target = target
        self._optional = frozenset(info.gvk for info in optional)
        self._in_trouble = in_trouble
        self._rng = rng
        self._log = log
        self._look_again = asyncio.Event()
        self._trouble = "the server was not asked yet"
        self.findings: Findings | None = None
        """None before the first look came to an end."""

    async def run(self) -> None:
        """Looks whenever something may have changed, for ever."""
        for informer in self._cache:
            informer.on_state(self._turned)
        first, longest = _AGAIN_AFTER
        pause = first
        while True:
            self._look_again.clear()
            try:
                findings = await self.look()
            except (ApiError, TransportError, DecodeError) as error:  # readiness tells of a server that is away
                self._trouble = f"the server could not be asked: {error}"
                self._log.debug("permissions could not be asked for", error=str(error))
                well = False
            else:
                self._tell(findings)
                well = not findings.reasons
            pause = first if well else min(longest, pause * 1.5)
            await self._until_next(_ALL_WELL if well else pause)

    async def _until_next(self, pause: float) -> None:
        """Waits until something may have changed, ``pause`` seconds at most."""
        first, longest = _AGAIN_AFTER
        until = asyncio.get_running_loop().time() + pause * self._rng.uniform(0.8, 1.2)
        while (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                async with asyncio.timeout(min(left, longest)):
                    await self._look_again.wait()
            except TimeoutError:
                if self._in_trouble():
                    return
            else:
                await asyncio.sleep(first / 2)  # several kinds turn at a time
                return

    @property
    def check(self) -> Check:
        """Of what the last look brought."""

        def look() -> str | None:
            if self.findings is None:
                return self._trouble
            return "; ".join(self.findings.reasons) or None

        return Check("access", look)

    async def look(self) -> Findings:
        """Asks the server. Raises what a request may raise."""
        unserved = await self._unserved()
        forbidden = await self._forbidden()
        identity = await self._identity(forbidden[0]) if forbidden else None
        return Findings(tuple(unserved), tuple(forbidden), identity)

    def _turned(self, _state: InformerState) -> None:
        self._look_again.set()

    # what the server has

    async def _unserved(self) -> list[str]:
        self._client.discovery.forget()
        found = []
        for need in self._needs:
            if need.info.gvk in self._optional:
                continue
            try:
                served = await self._client.discovery.kind(need.info.api_version, need.info.kind)
            except UnknownKind as error:
                if not need.subresource:
                    found.append(str(error))
                continue
            if need.subresource == "status" and served.subresource("status") is None:
                found.append(
                    f"{need.info.qualified_plural} has no status subresource here: its definition is an old one"
                )
        return list(dict.fromkeys(found))

    # what we may do

    async def _forbidden(self) -> list[Missing]:
        limit = asyncio.Semaphore(_CONCURRENT if self.findings is None else 1)

        async def allowed(need: Need, verb: str, namespace: str | None) -> bool:
            async with limit:
                return await self._may(need, verb, namespace)

        questions = [
            (need, namespace, verb)
            for need in self._needs
            for namespace in self._where(need)
            for verb in sorted(need.verbs)
        ]
        answers = await asyncio.gather(*(allowed(need, verb, namespace) for need, namespace, verb in questions))
        lacking: dict[tuple[int, str | None], set[str]] = {}
        for (need, namespace, verb), yes in zip(questions, answers, strict=True):
            if not yes:
                lacking.setdefault((self._needs.index(need), namespace), set()).add(verb)
        return [
            Missing(msgspec.structs.replace(self._needs[index], verbs=frozenset(verbs)), namespace)
            for (index, namespace), verbs in lacking.items()
        ]

    def _where(self, need: Need) -> Sequence[str | None]:
        if self._lease is not None and need is self._lease_need:
            return [self._lease[0]]
        if self._namespaces is None or not need.info.namespaced:
            return [None]
        return sorted({*self._namespaces, *need.also_in})

    def _name(self, need: Need, verb: str) -> str | None:
        """Of the one object that is needed: a careful role names the Lease. What is created has no name for RBAC yet."""
        return self._lease[1] if self._lease is not None and need is self._lease_need and verb != "create" else None

    async def _may(self, need: Need, verb: str, namespace: str | None) -> bool:
        attributes = authorization_v1.ResourceAttributes(
            group=need.info.group,
            version=need.info.version,
            resource=need.info.plural,
            subresource=need.subresource or None,
            verb=verb,
            namespace=namespace,
            name=self._name(need, verb),
        )
        review = authorization_v1.SelfSubjectAccessReview(
            spec=authorization_v1.SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        )
        try:
            return (await self._client.create(review)).status.allowed
        except (NotFound, Forbidden) as error:  # some servers have no such question, or don't let us ask
            self._log.debug("the server does not say what we may do", error=str(error))
            return True

    async def _identity(self, missing: Missing) -> str | None:
        """Servers before 1.28 are not asked who we are, but tell when they refuse."""
        with suppress(ApiError, DecodeError):
            user = (await self._client.create(authentication_v1.SelfSubjectReview())).status.user_info
            return None if user is None else user.username
        info = missing.need.info
        try:
            await self._client.rest.list(info, namespace=missing.namespace, query=[("limit", "1")])
        except Forbidden as error:
            named = _USER.search(str(error))
            return named[1] if named else None
        except ApiError:
            return None
        return None

    # saying so

    def _tell(self, findings: Findings) -> None:
        before, self.findings = self.findings, findings
        if before is not None and before.reasons == findings.reasons:
            return
        if findings.reasons:
            self._log.warning(
                "not everything is there that this operator needs",
                missing=findings.reasons,
                remedy=self._remedy(findings),
            )
        elif before is not None:
            self._log.info("everything is there that this operator needs")

    def _remedy(self, findings: Findings) -> list[str]:
        home = self._account_namespace(findings.identity)
        everything = installs(self._target, home, self._namespaces)
        if home is None:
            beyond = findings.forbidden
        else:  # where else the Lease is to be, only this process was told
            beyond = tuple(one for one in findings.forbidden if self._is_lease(one) and one.namespace != home)
        given = grants(beyond, operator=self._operator, identity=findings.identity)
        return [*([everything] if findings.unserved or beyond != findings.forbidden else []), *given]

    def _is_lease(self, missing: Missing) -> bool:
        return missing.need.info == self._lease_need.info

    def _account_namespace(self, identity: str | None) -> str | None:
        """The namespace of the service account that the generated manifests are about, if we are that."""
        namespace, _, name = (identity or "").removeprefix("system:serviceaccount:").partition(":")
        return namespace if name == self._operator else None
