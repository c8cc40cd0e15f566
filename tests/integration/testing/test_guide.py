"""docs/testing.md: its files, written down as they stand there, and run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GUIDE = Path(__file__).parents[3] / "docs/testing.md"
FILE = re.compile(r"^```(?:python|ini)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guides_examples_work(pytester: pytest.Pytester) -> None:
    files: dict[str, str] = dict(FILE.findall(GUIDE.read_text()))
    assert sorted(files) == ["pytest.ini", "test_website.py", "test_website_crashes.py", "website.py"]
    for name, text in files.items():
        pytester.path.joinpath(name).write_text(text)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestDeprecationWarning")
    result.assert_outcomes(passed=15)
