"""Short names for what a template says: the hashes in revisions' and replica sets' names."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from kubewright.api import Model, to_dict

__all__ = ["template_hash"]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and look-alikes, so that no hash is a word."""


def template_hash(template: Model, collisions: int | None = None) -> str:
    """The same for equal templates; ``collisions`` gives another one where it was taken by something else."""
    body = msgspec.json.encode([to_dict(template), collisions or 0], order="deterministic")
    number = int.from_bytes(blake2b(body, digest_size=4).digest(), "big")
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in f"{number:010d}")
