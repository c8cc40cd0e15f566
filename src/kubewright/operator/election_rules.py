"""What a leader election may be given: an identity, and times that fit each other."""

from __future__ import annotations

__all__ = ["JITTER", "check_identity", "check_times"]

JITTER = 1.2
"""Candidates look again after one to 2.2 retry periods, as those of client-go do, so that they don't do it together."""


def check_identity(identity: str, *, what: str) -> str:
    """The same again. Raises ValueError for what can't be in a Lease and in a header."""
    if not identity or not identity.isascii() or not identity.isprintable() or " " in identity:
        raise ValueError(
            f"{what} is {identity!r}: use printable ASCII without blanks; it is sent in the user agent, too"
        )
    return identity


def check_times(lease_duration: int, renew_deadline: float, retry_period: float, *, prefix: str = "") -> None:
    """Raises ValueError, naming the arguments, before whose names ``prefix`` comes."""
    duration = f"{prefix}lease_duration={lease_duration:g}"
    deadline = f"{prefix}renew_deadline={renew_deadline:g}"
    if not 1 <= lease_duration < 2**31 or lease_duration != int(lease_duration):
        raise ValueError(f"{duration}: a Lease counts in whole seconds, 1 at least and 2147483647 at most")
    if renew_deadline >= lease_duration:
        raise ValueError(f"{deadline} must be less than {duration}: a write may take what is between them")
    if retry_period <= 0 or renew_deadline <= JITTER * retry_period:
        raise ValueError(
            f"{prefix}retry_period={retry_period:g} must be more than 0 and less than {deadline} / {JITTER}"
        )
