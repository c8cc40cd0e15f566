"""`FirstContact`: an API server that is away when the process starts is waited for, for a while.

A control plane that restarts must not end its operators, as what is restarted again and again comes back late. A server
that never comes is more likely a mistake in the configuration, which must show.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

from kubewright.api import ApiError, Clock, DecodeError, Forbidden, Unauthorized
from kubewright.client import Client, CredentialError, TransportError
from kubewright.operator.health import Check
from kubewright.telemetry import Log

__all__ = ["FirstContact", "Unreachable"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
"""Seconds between tries."""
_ONE_TRY = (3.0, 10.0)
"""Seconds that a try has: at least, even at the end of the time, so that there is a reason to tell; and at most, as what
does not answer may have come back at another place."""


class Unreachable(Exception):
    """No API server answered, or none that lets us in; the message says where, why, and for how long."""


class FirstContact:
    """Asks the server its version, and whether it knows us, before anything else is asked of it."""

    def __init__(
        self,
        client: Client,
        *,
        server: str,
        source: str,
        within: float,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        """``source`` is where ``server``, and our credentials, are from; ``within`` how long to try, in seconds."""
        self._client = client
        self._server = server
        self._source = source
        self._within = within
        self._clock = clock
        self._rng = rng
        self._log = log
        self._started = clock.monotonic()
        self._trouble = ""
        self.made = asyncio.Event()

    @property
    def check(self) -> Check:
        def look() -> str | None:
            if self.made.is_set():
                return None
            if not self._trouble:
                return "the API server did not answer yet"
            return f"{self._trouble}; tried for {self._waited:.0f} of {self._within:g} s"

        return Check("server", look)

    async def make(self) -> None:
        """Returns when the server answered. Raises `Unreachable`: in time, or at once where waiting can't help."""
        self._started = self._clock.monotonic()
        pause = _FIRST_PAUSE
        while True:
            try:
                version = await self._asked()
            except (TransportError, ApiError, TimeoutError) as error:
                self._told(error)
            else:
                break
            left = self._within - self._waited
            if left <= 0:
                raise Unreachable(self._given_up())
            await asyncio.sleep(min(left, pause * self._rng.uniform(0.8, 1.2)))
            pause = min(_LONGEST_PAUSE, pause * 1.5)
        self.made.set()
        self._log.info("connected", server=self._server, version=version)

    @property
    def _waited(self) -> float:
        return self._clock.monotonic() - self._started

    async def _asked(self) -> str | None:
        """The version, None where it is a secret. Raises `Unreachable` where trying again can't help."""
        version: str | None = None
        try:
            least, most = _ONE_TRY
            async with asyncio.timeout(min(most, max(least, self._within - self._waited))):
                with suppress(Forbidden):  # then it knows us, which is all that matters here
                    version = await self._client.rest.version()
                await self._client.rest.authenticate()
        except (CredentialError, Unauthorized) as error:
            if self._trouble:  # a server that just came may not know anybody yet
                raise
            raise Unreachable(str(error)) from error  # which says whose credentials they are
        except ApiError as error:
            if (error.status.code or error.code) in {429, *range(500, 600)}:
                raise
            raise Unreachable(f"{self._server} refused us (credentials of {self._source}): {error}") from error
        except DecodeError as error:
            raise Unreachable(f"what answers at {self._server} ({self._source}) is no API server: {error}") from error
        return version

    def _told(self, error: Exception) -> None:
        if isinstance(error, CredentialError | Unauthorized):
            trouble = str(error)
        else:
            what = "the API server is not well" if isinstance(error, ApiError) else "no API server"
            trouble = f"{what} at {self._server} ({self._source}): {str(error) or 'no answer in time'}"
        if trouble != self._trouble and self._within:
            self._log.warning("waiting for the API server", error=trouble, seconds=self._within)
        self._trouble = trouble

    def _given_up(self) -> str:
        return f"{self._trouble}; given up after {self._within:g} s" if self._within else self._trouble
