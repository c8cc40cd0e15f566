"""`Retries`: which requests are sent again, and when."""

from __future__ import annotations

import asyncio
import random
from email.utils import parsedate_to_datetime

from kubewright.api import Clock
from kubewright.client.transport import (
    SAFE_METHODS,
    CredentialError,
    HttpRequest,
    HttpResponse,
    NotLeading,
    Transport,
    TransportError,
)

__all__ = ["Retries"]

_ATTEMPTS = 3
_THROTTLED_ATTEMPTS = 5
_LONGEST_WAIT = 30.0


class Retries:
    """Sends, and sends again what the server can't have acted on.

    Guarantees
        Reads come again when the connection fails, and when the server is overloaded and says when to come back.
        Writes come again when they certainly did not arrive, and when the server refused to look at them (429).
        A failed connection is tried three times in all, throttling borne five times; waits are jittered.
    Errors
        `TransportError`; `CredentialError` and `NotLeading` at once.
    """

    def __init__(self, transport: Transport, *, clock: Clock, rng: random.Random) -> None:
        self._transport = transport
        self._clock = clock
        self._rng = rng

    async def send(self, request: HttpRequest) -> HttpResponse:
        failures = throttled = 0
        while True:
            try:
                response = await self._transport.request(request)
            except (CredentialError, NotLeading):
                raise
            except TransportError as error:
                failures += 1
                if failures == _ATTEMPTS or (error.may_be_applied and request.method not in SAFE_METHODS):
                    raise
                await asyncio.sleep(self._rng.uniform(0.05, 0.1) * 2**failures)
                continue
            if response.status < 429:
                return response
            wait = self._asked_to_wait(request, response)
            throttled += 1
            if wait is None or throttled == _THROTTLED_ATTEMPTS:
                return response
            await asyncio.sleep(min(wait, _LONGEST_WAIT) * self._rng.uniform(1.0, 1.25))

    def _asked_to_wait(self, request: HttpRequest, response: HttpResponse) -> float | None:
        """Seconds until the request may come again; None where it must not."""
        answer_may_repeat = response.status == 429 or (request.method in SAFE_METHODS and response.status >= 500)
        text = response.headers.get("retry-after") if answer_may_repeat else None
        if text is None:
            return None
        if text.isdecimal():
            return float(text)
        try:
            return max(0.0, (parsedate_to_datetime(text) - self._clock.now()).total_seconds())
        except (ValueError, TypeError):
            return None
