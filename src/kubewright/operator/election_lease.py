"""`LeaseView`: what a candidate knows of a Lease, by its own clock alone. No I/O."""

from __future__ import annotations

from enum import Enum

from kubewright.kinds import coordination_v1

__all__ = ["LeaseView", "Standing"]


class Standing(Enum):
    """What a Lease is to a candidate who looks at it."""

    OURS = "ours"
    """It is as we wrote it."""
    FREE = "free"
    """Missing, given up by its holder, or not renewed for as long as it is good for."""
    TAKEN = "taken"
    """Somebody else's, and good."""


class LeaseView:
    """Tells whose the Lease is.

    Guarantees
        Clocks are never compared: a holder's time runs from when this candidate saw the Lease change last. A Lease that
        was deleted is still its last holder's for as long as a Lease is good for: the holder may not know yet. It is
        free at once only where that was us, and not so long ago that another could have taken it meanwhile, unseen. Who
        merely bears our name, as after a restart, is somebody else.
    Caveats
        Who never saw a Lease that was deleted makes a new one at once, for up to one renewal beside its holder.
    """

    def __init__(self, identity: str, *, lease_duration: int) -> None:
        """``lease_duration``, in seconds, is for a Lease that does not say how long it is good for."""
        self._identity = identity
        self._lease_duration = lease_duration
        self._uid: str | None = None
        self._spec: coordination_v1.LeaseSpec | None = None
        self._seen_at = float("-inf")
        self._written: dict[str, float] = {}
        self.lease: coordination_v1.Lease | None = None
        """As it was seen last; None while there is none."""

    @property
    def holder(self) -> str | None:
        """Who was last seen to hold it, "" where nobody does; None before the first look."""
        return None if self._spec is None else self._spec.holder_identity or ""

    @property
    def wrote(self) -> bool:
        """Whether we ever tried to take it."""
        return bool(self._written)

    def writing(self, renew_time: str, began: float) -> None:
        """We are about to write it with this time, by which we know it again where no answer comes.

        What was tried for longer than a Lease is good for is let go of: who is refused tries for ever.
        """
        recent = {time: before for time, before in self._written.items() if began - before < self._lease_duration}
        self._written = {**recent, renew_time: began}

    def written(self, lease: coordination_v1.Lease, began: float, now: float) -> None:
        """It is as we wrote it, which settles all earlier attempts."""
        self._written = {lease.spec.renew_time or "": began}
        self.seen(lease, now)

    def seen(self, lease: coordination_v1.Lease | None, now: float) -> Standing:
        """Takes note of what the server has, ``now`` that its answer is here, in seconds; None: it has none."""
        deleted = lease is None and self.lease is not None
        self.lease = lease
        if lease is not None and (lease.metadata.uid, lease.spec) != (self._uid, self._spec):
            self._uid, self._spec, self._seen_at = lease.metadata.uid, lease.spec, now
        elif lease is None and self._spec is None:
            self._spec = coordination_v1.LeaseSpec(holder_identity="")
        elif deleted:
            self._seen_at = now
        return self.standing(now)

    def standing(self, now: float) -> Standing:
        spec = self._spec or coordination_v1.LeaseSpec()
        began = self._written.get(spec.renew_time or "") if spec.holder_identity == self._identity else None
        if began is not None:
            if self.lease is not None:
                return Standing.OURS
            if now < began + self._lease_duration:  # nobody else could call it free until then
                return Standing.FREE
        if self.lease is not None and not spec.holder_identity:
            return Standing.FREE
        return Standing.TAKEN if now < self.good_until else Standing.FREE

    @property
    def good_until(self) -> float:
        """When its holder's time is up, if it does not change until then."""
        stated = None if self._spec is None or self.lease is None else self._spec.lease_duration_seconds
        return self._seen_at + (stated or self._lease_duration)
