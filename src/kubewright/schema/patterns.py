r"""Regular expressions as the API server reads them (RE2 syntax), for Python's engine.

The two differ in what ``$``, ``\d`` and ``\s`` mean, in classes such as ``\pL`` and ``[[:alpha:]]``, and in flags
inside a group; look-around, back references and possessive repeats do not exist in RE2 and are refused. Python's
engine backtracks, so a pattern with nested repeats can be slow on long values where RE2 is not.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

__all__ = ["PatternError", "compile_pattern"]

_MAX_REPEAT = 1000
_CLASSES = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": r"\t\n\f\r ",
}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROL = {"a": r"\a", "f": r"\f", "n": r"\n", "r": r"\r", "t": r"\t", "v": r"\v"}
_SCRIPT_NAMES = {"Han": ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "KANGXI RADICAL")}
_CATEGORIES = frozenset(
    [
        "C",
        "Cc",
        "Cf",
        "Co",
        "Cs",
        "L",
        "Ll",
        "Lm",
        "Lo",
        "Lt",
        "Lu",
        "M",
        "Mc",
        "Me",
        "Mn",
        "N",
        "Nd",
        "Nl",
        "No",
        "P",
        "Pc",
        "Pd",
        "Pe",
        "Pf",
        "Pi",
        "Po",
        "Ps",
        "S",
        "Sc",
        "Sk",
        "Sm",
        "So",
        "Z",
        "Zl",
        "Zp",
        "Zs",
    ]
)


class PatternError(ValueError):
    """The pattern is no RE2 expression; the message is the server's."""

    def __init__(self, problem: str, text: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{text}`")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern for Python's ``search``. Raises `PatternError`."""
    translated = _Translator(pattern).translate()
    try:
        return re.compile(translated)
    except (re.error, OverflowError) as error:
        raise PatternError("invalid or unsupported syntax", pattern) from error


class _Translator:
    """Reads one RE2 pattern from left to right and writes the same for Python."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.multi_line = False
        self.swap_greed = False
        # what to restore at the end of each open group: flags, and the groups that we opened ourselves for flags
        self.open: list[tuple[bool, bool, list[str], int]] = []
        self.flag_groups: list[str] = []
        self.times = 1  # how often a counted repeat inside this group, and the last piece of it, may match
        self.last_times = 1
        self.can_repeat = False

    def translate(self) -> str:
        while self.at < len(self.pattern):
            self._one()
        if self.open:
            raise PatternError("missing closing )", self.pattern)
        return "".join(self.out) + ")" * len(self.flag_groups)

    def _emit(self, text: str, *, repeatable: bool = True) -> None:
        self.out.append(text)
        self.can_repeat = repeatable
        self.last_times = 1

    def _one(self) -> None:
        char = self.pattern[self.at]
        if char == "(":
            self._open_group()
        elif char == ")":
            self._close_group()
        elif char == "[":
            self._emit(self._bracket())
        elif char == "\\":
            self._escape()
        elif char in "*+?" or (char == "{" and self._counted()):
            self._repeat()
        else:
            self.at += 1
            if char == "$":
                self._emit("(?m:$)" if self.multi_line else r"\Z")
            elif char == "^":
                self._emit("(?m:^)" if self.multi_line else "^")
            elif char == "|":
                # flags last to the end of the group, over all its alternatives
                self._emit(")" * len(self.flag_groups) + "|" + "".join(self.flag_groups), repeatable=False)
            else:
                self._emit(char if char == "." else re.escape(char))

    # groups ---------------------------------------------------------------------------------------------------------

    def _open_group(self) -> None:
        start = self.at
        rest = self.pattern[start:]
        if not rest.startswith("(?"):
            self._enter("(", 1)
            return
        if re.match(r"\(\?P?<", rest):
            named = re.match(r"\(\?P?<[A-Za-z0-9_]+>", rest, re.ASCII)
            if named is None:
                raise PatternError("invalid named capture", re.match(r"[^>]*>?", rest)[0])  # type: ignore[index]
            self._enter("(", named.end())  # nobody asks for the names, and RE2 allows one twice
            return
        flags = re.match(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])", rest)
        if flags is None or (flags[2] is None and not flags[1] and flags[3] == ")"):
            raise PatternError("invalid or unsupported Perl syntax", rest[:3])
        on, off = flags[1], flags[2] or ""
        kept = "".join(flag for flag in "is" if flag in on)
        dropped = "".join(flag for flag in "is" if flag in off)
        opening = f"(?{kept}{'-' + dropped if dropped else ''}:"
        if flags[3] == ":":
            self._enter(opening, flags.end())
        else:  # flags for the rest of the enclosing group: a group of our own that ends with it
            self.at += flags.end()
            self._emit(opening, repeatable=False)
            self.flag_groups.append(opening)
        self.multi_line = ("m" in on or self.multi_line) and "m" not in off
        self.swap_greed = ("U" in on or self.swap_greed) and "U" not in off

    def _enter(self, opening: str, length: int) -> None:
        self.open.append((self.multi_line, self.swap_greed, self.flag_groups, self.times))
        self.flag_groups, self.times = [], 1
        self.at += length
        self._emit(opening, repeatable=False)

    def _close_group(self) -> None:
        if not self.open:
            raise PatternError("unexpected )", self.pattern)
        closing = ")" * (len(self.flag_groups) + 1)
        inside = self.times
        self.multi_line, self.swap_greed, self.flag_groups, outside = self.open.pop()
        self.at += 1
        self._emit(closing)
        self.last_times, self.times = inside, max(inside, outside)

    # repeats --------------------------------------------------------------------------------------------------------

    def _counted(self) -> re.Match[str] | None:
        return re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}", re.ASCII).match(self.pattern, self.at)

    def _repeat(self) -> None:
        start = self.at
        counted = self._counted()
        operator = counted[0] if counted else self.pattern[start]
        if not self.can_repeat:
            raise PatternError("missing argument to repetition operator", operator)
        if counted:
            low, high = int(counted[1]), int(counted[3] or counted[1])
            self.times = max(self.times, max(low, high) * self.last_times)
            if self.times > _MAX_REPEAT or low > high:
                raise PatternError("invalid repeat count", operator)
        self.at += len(operator)
        lazy = self.pattern.startswith("?", self.at)
        if lazy:
            self.at += 1
        following = self._counted() or re.compile(r"[*+?]").match(self.pattern, self.at)
        if following:
            raise PatternError("invalid nested repetition operator", self.pattern[start : following.end()])
        # RE2 may repeat what matches nothing, such as ^*, which Python does not
        if self.out[-1] in {"^", r"\Z", "(?m:$)", "(?m:^)"}:
            self.out[-1] = f"(?:{self.out[-1]})"
        self._emit(operator + ("?" if lazy != self.swap_greed else ""), repeatable=False)

    # escapes and classes --------------------------------------------------------------------------------------------

    def _escape(self) -> None:
        rest = self.pattern[self.at :]
        if rest.startswith(r"\Q"):
            literal, _, _ = rest[2:].partition(r"\E")
            self.at += len(literal) + (4 if rest.startswith(r"\E", 2 + len(literal)) else 2)
            for char in literal:
                self._emit(re.escape(char))
            return
        if rest[1:2] in {"A", "z", "b", "B"}:
            self.at += 2
            self._emit({"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}[rest[1]])
            return
        members, negated, is_class = self._escaped()
        self._emit(f"[{'^' if negated else ''}{members}]" if is_class else members)

    def _escaped(self) -> tuple[str, bool, bool]:
        """One escape: its text, whether it stands for everything else, and whether it is a class of characters."""
        start = self.at
        char = self.pattern[start + 1 : start + 2]
        if not char:
            raise PatternError("trailing backslash at end of expression", "")
        if char.lower() in _CLASSES:
            self.at += 2
            return _CLASSES[char.lower()], char.isupper(), True
        if char in "pP":
            return self._unicode_class()
        self.at += 2
        if char in _CONTROL:
            return _CONTROL[char], False, False
        if char == "x":
            return self._code_point(r"\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2})", 16, start), False, False
        if char in "01234567" and (char == "0" or self.pattern[self.at : self.at + 1] in tuple("01234567")):
            self.at -= 1
            return self._code_point(r"([0-7]{1,3})()", 8, start), False, False
        if char.isascii() and not char.isalnum():
            return re.escape(char), False, False
        raise PatternError("invalid escape sequence", self.pattern[start : self.at])

    def _code_point(self, syntax: str, base: int, start: int) -> str:
        digits = re.compile(syntax).match(self.pattern, self.at)
        code = int(digits[1] or digits[2], base) if digits else sys.maxunicode + 1
        if digits is None or code > sys.maxunicode:
            shown = re.compile(r"\{?[0-9A-Fa-f]*").match(self.pattern, self.at)
            raise PatternError("invalid escape sequence", self.pattern[start : shown.end() if shown else self.at])
        self.at = digits.end()
        return re.escape(chr(code))

    def _unicode_class(self) -> tuple[str, bool, bool]:
        start = self.at
        name = re.compile(r"\\[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Za-z]))").match(self.pattern, start)
        ranges = _unicode_ranges(name[2] or name[3]) if name else ""
        if name is None or not ranges:
            raise PatternError("invalid character class range", name[0] if name else self.pattern[start : start + 3])
        self.at = name.end()
        return ranges, (self.pattern[start + 1] == "P") != bool(name[1]), True

    def _bracket(self) -> str:
        start = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        members: list[str] = []
        excluded: list[str] = []  # negated classes inside a class, which Python can't write as ranges
        first = True
        while True:
            if self.at >= len(self.pattern):
                raise PatternError("missing closing ]", self.pattern[start:])
            if self.pattern[self.at] == "]" and not first:
                self.at += 1
                break
            first = False
            self._member(members, excluded)
        if not excluded:
            return f"[{'^' if negated else ''}{''.join(members)}]"
        alternatives = [f"[{''.join(members)}]"] if members else []
        alternatives += [f"[^{text}]" for text in excluded]
        either = "|".join(alternatives)
        return rf"(?:(?!{either})[\s\S])" if negated else f"(?:{either})"

    def _member(self, members: list[str], excluded: list[str]) -> None:
        start = self.at
        posix = re.compile(r"\[:(\^?)([a-z]+):\]").match(self.pattern, start)
        if posix:
            if posix[2] not in _POSIX:
                raise PatternError("invalid character class range", posix[0])
            self.at = posix.end()
            (excluded if posix[1] else members).append(_POSIX[posix[2]])
            return
        low, is_class, negated = self._class_char()
        if is_class:
            (excluded if negated else members).append(low)
            return
        if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
            self.at += 1
            if self.at >= len(self.pattern):
                raise PatternError("missing closing ]", self.pattern[start:])
            between = self.at
            high, is_class, _ = self._class_char()
            if is_class:
                raise PatternError("invalid escape sequence", self.pattern[between : self.at])
            if _code(low) > _code(high):
                raise PatternError("invalid character class range", self.pattern[start : self.at])
            low = f"{low}-{high}"
        members.append(low)

    def _class_char(self) -> tuple[str, bool, bool]:
        if self.pattern[self.at] == "\\":
            text, negated, is_class = self._escaped()
            return text, is_class, negated
        char = self.pattern[self.at]
        self.at += 1
        return (f"\\{char}" if char in r"\]^-[&~|" else char), False, False


def _code(member: str) -> int:
    """The code point of one member of a class, as `_Translator` writes it."""
    if len(member) == 2 and member[0] == "\\":
        controls = dict(zip(_CONTROL.values(), (7, 12, 10, 13, 9, 11), strict=True))
        return controls.get(member, ord(member[1]))
    return ord(member)


@lru_cache(maxsize=64)
def _unicode_ranges(name: str) -> str:
    """The members of a Unicode category or script as ranges; "" for a name that is neither."""
    if name in _CATEGORIES or name == "Any":
        chosen = [name == "Any" or unicodedata.category(chr(code)).startswith(name) for code in range(0x110000)]
    elif len(name) == 1:
        return ""
    else:
        names = _SCRIPT_NAMES.get(name, (name.upper().replace("_", " ") + " ",))
        chosen = [unicodedata.name(chr(code), "").startswith(names) for code in range(0x110000)]
    parts: list[str] = []
    start: int | None = None
    for code, inside in enumerate([*chosen, False]):
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            parts.append(f"\\U{start:08x}" + (f"-\\U{code - 1:08x}" if code - 1 > start else ""))
            start = None
    return "".join(parts)
