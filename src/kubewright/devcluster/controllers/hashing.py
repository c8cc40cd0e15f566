"""Short names for what a template says: the hashes in revisions' and replica sets' names."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from kubewright.api import Model, to_dict

__all__ = ["short_suffix", "template_hash"]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and look-alikes, so that no hash is a word."""


def template_hash(template: Model, collisions: int | None = None) -> str:
    """The same for equal templates; ``collisions`` gives another one where it was taken by something else."""
    body = msgspec.json.encode([to_dict(template), collisions or 0], order="deterministic")
    number = int.from_bytes(blake2b(body, digest_size=4).digest(), "big")
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in f"{number:010d}")


def short_suffix(text: str) -> str:
    """Five characters like those that a server puts after a generated name, but always the same for one text."""
    digest = blake2b(text.encode(), digest_size=5).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest)
