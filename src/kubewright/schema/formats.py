"""String formats: which ones the API server checks, and how.

The list is that of Kubernetes 1.34 and newer; any other ``format`` is documentation and never refuses a value.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import MappingProxyType

__all__ = ["effective_format", "matches_format", "recognised"]


def effective_format(declared: str, types: Sequence[str]) -> str:
    """The format as far as the server enforces it for values of these types; "" where it does not."""
    return declared if recognised(declared, types) else ""


def recognised(declared: str, types: Sequence[str]) -> bool:
    """Whether the server knows the format for these types; it warns about others when a CRD is written."""
    only = types[0] if len(types) == 1 else ""
    if only == "integer":
        return declared in {"int32", "int64"}
    if only == "number":
        return declared in {"float", "double"}
    return only in {"", "string"} and _normalised(declared) in _CHECKS


def matches_format(name: str, text: str) -> bool:
    """Whether ``text`` is what the format asks for; anything is, for a format that is not checked."""
    check = _CHECKS.get(_normalised(name))
    return check is None or check(text)


def _normalised(name: str) -> str:
    return name.replace("-", "")


def _like(pattern: str, flags: re.RegexFlag = re.ASCII) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str = "[0-9a-f]", variant: str = "[0-9a-f]") -> Callable[[str], bool]:
    return _like(
        rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}",
        re.ASCII | re.IGNORECASE,
    )


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        return False
    try:
        # year 0 is a leap year to the server and unknown to Python
        date.fromisoformat(text.replace("0000", "2000", 1) if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)", re.ASCII)


def _is_date_time(text: str) -> bool:
    day, separator, time = text.lower().partition("t")
    if not separator or not _is_date(day):
        return False
    parts = _TIME.fullmatch(time.split("t")[0])
    return parts is not None and parts[1] <= "23" and parts[2] <= "59" and parts[3] <= "59"


_GO_DURATION = re.compile(r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_LOOSE_DURATION = re.compile(r"\d+\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = frozenset({"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"})
_UNIT_STEMS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_duration(text: str) -> bool:
    """Go's durations (``1h30m``), or any number followed by a unit in words (``3 weeks``)."""
    if _GO_DURATION.fullmatch(text):
        return True
    units = (unit.lower() for unit in _LOOSE_DURATION.findall(text))
    return any(unit in _UNITS or unit.startswith(_UNIT_STEMS) for unit in units)


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in labels):
        return False
    if not all(map(_is_host_label, labels)):
        return False
    return len(labels) == 1 or (len(labels[-1]) >= 2 and labels[-1].isalpha())


def _is_host_label(label: str) -> bool:
    if not label or label.startswith("-") or label.endswith("-"):
        return False
    return all(char == "-" or (char.isascii() and char.isalnum()) or _is_letter_or_symbol(char) for char in label)


def _is_letter_or_symbol(char: str) -> bool:
    return not char.isascii() and (char.isalpha() or not (char.isalnum() or char.isspace() or char.isnumeric()))


def _without_leading_zeros(text: str) -> str:
    return re.sub(r"(?<![0-9A-Fa-f:])0+(?=\d)", "", text) if ":" not in text else text


def _is_ipv4(text: str) -> bool:
    return "." in text and _is_address(_without_leading_zeros(text))


def _is_ipv6(text: str) -> bool:
    return ":" in text and "%" not in text and _is_address(text)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    address, slash, prefix = text.partition("/")
    if not slash or not re.fullmatch(r"\d{1,3}", prefix, re.ASCII) or "%" in address:
        return False
    address = _without_leading_zeros(address)
    return _is_address(address) and int(prefix) <= (128 if ":" in address else 32)


_ATOM = r"[^\x00-\x20\x7f()<>\[\]:;@\\,.\"]+"
_QUOTED = r'"([^"\\\r\n]|\\[\x20-\x7e\t])*"'
_ADDRESS = rf"({_ATOM}(\.{_ATOM})*|{_QUOTED})@({_ATOM}(\.{_ATOM})*|\[[^\[\]\\]*\])"
_EMAIL = re.compile(rf"\s*({_ADDRESS}|(({_ATOM}|{_QUOTED}|\.)\s*)*<{_ADDRESS}>)\s*")


def _is_uri(text: str) -> bool:
    """An absolute URI, or an absolute path, without a fragment's meaning."""
    if not text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        return False
    if re.search(r"%(?![0-9A-Fa-f]{2})", text.partition("?")[0]):
        return False
    if text == "*" or text.startswith("/"):
        return True
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", text, re.ASCII | re.DOTALL)
    if scheme is None:
        return False
    if not scheme[2].startswith("//"):
        return True
    authority = re.split(r"[/?]", scheme[2][2:], maxsplit=1)[0].rpartition("@")[2]
    port = authority.rpartition("]")[2].rpartition(":") if ":" in authority.rpartition("]")[2] else ("", "", "")
    return " " not in authority and "<" not in authority and ">" not in authority and (not port[2] or port[2].isdigit())


_MAC = re.compile(
    r"[0-9a-f]{2}(?P<s>[:-])[0-9a-f]{2}((?P=s)[0-9a-f]{2}){4}(((?P=s)[0-9a-f]{2}){2}(((?P=s)[0-9a-f]{2}){12})?)?"
    r"|[0-9a-f]{4}(\.[0-9a-f]{4}){2}(\.[0-9a-f]{4}((\.[0-9a-f]{4}){6})?)?",
    re.IGNORECASE | re.ASCII,
)


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    return sum((place + 1) * (10 if char == "X" else int(char)) for place, char in enumerate(digits)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(char) * (3 if place % 2 else 1) for place, char in enumerate(digits)) % 10 == 0


_CARDS = re.compile(
    r"4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11}",
    re.ASCII,
)


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not _CARDS.fullmatch(digits):
        return False
    doubled = (int(char) * (1 + place % 2) for place, char in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


_BYTE = r"(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_short_name = _like(_DNS_LABEL)
_long_name = _like(rf"{_DNS_LABEL}(\.{_DNS_LABEL})*")
_ssn = _like(r"\d{3}[- ]?\d{2}[- ]?\d{4}")

_CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "bsonobjectid": _like(r"[0-9a-fA-F]{24}"),
        "byte": _like(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
        "cidr": _is_cidr,
        "creditcard": _is_credit_card,
        "date": _is_date,
        "datetime": _is_date_time,
        "duration": _is_duration,
        "email": lambda text: _EMAIL.fullmatch(text) is not None,
        "hexcolor": _like(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
        "hostname": _is_hostname,
        "ipv4": _is_ipv4,
        "ipv6": _is_ipv6,
        "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
        "isbn10": _is_isbn10,
        "isbn13": _is_isbn13,
        "k8sshortname": lambda text: len(text) <= 63 and _short_name(text),
        "k8slongname": lambda text: len(text) <= 253 and _long_name(text),
        "mac": lambda text: _MAC.fullmatch(text) is not None,
        "password": lambda _: True,
        "rgbcolor": _like(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
        "ssn": lambda text: len(text) == 11 and _ssn(text),
        "uri": _is_uri,
        "uuid": _uuid(),
        "uuid3": _uuid(version="3"),
        "uuid4": _uuid(version="4", variant="[89ab]"),
        "uuid5": _uuid(version="5", variant="[89ab]"),
    }
)
