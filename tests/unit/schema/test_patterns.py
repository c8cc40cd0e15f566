"""RE2 on Python's engine."""

from collections.abc import Callable
from typing import Any

import pytest

from kubewright.schema.patterns import PatternError, compile_pattern


def test_patterns_match_what_they_match_on_a_real_server(recorded: Callable[[str], Any]) -> None:
    values = recorded("pattern_values")
    for pattern, expected in recorded("patterns"):
        compiled = compile_pattern(pattern)
        assert [value for value in values if compiled.search(value)] == expected, pattern


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("a++", "invalid nested repetition operator: `++`"),
        ("(a", "missing closing ): `(a`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("((a{100}){100}){100}", "invalid repeat count: `{100}`"),
    ],
)
def test_what_re2_lacks_is_refused_in_its_words(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == f"error parsing regexp: {problem}"
