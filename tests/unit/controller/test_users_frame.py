"""Where a stack begins that is shown to a user."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubewright.controller import failures

RUN = f"{Path(failures.__file__).parent}/run.py"
COMMAND = f"{Path(failures.__file__).parents[1]}/cli/dev.py"


@pytest.mark.parametrize(
    ("files", "first"),
    [
        (["kubewright", COMMAND, "click.py", "asyncio.py", RUN, RUN, "user.py", RUN], 6),
        ([COMMAND, "asyncio.py", RUN, COMMAND], 2),
        (["main.py", "asyncio.py", RUN, "user.py", "requests.py"], 3),
        ([COMMAND, "click.py", "asyncio.py"], None),
        ([], None),
    ],
)
def test_it_is_the_first_that_a_run_has_called(files: list[str], first: int | None) -> None:
    assert failures.users_frame(files) == first
