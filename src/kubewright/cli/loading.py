"""Finding the `Operator` that a command line names."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from kubewright.cli.failure import Failure
from kubewright.operator import Operator

__all__ = ["Loaded", "load_operator"]

_USAGE = 'name it as "package.module:attribute" or "path/to/file.py:attribute"'


class Loaded(NamedTuple):
    operator: Operator
    target: str
    """The same as ``module:attribute``, as it is named where the files lie elsewhere."""


def load_operator(target: str) -> Loaded:
    """The operator at ``module:attribute`` or ``file.py:attribute``; the attribute defaults to ``operator``.

    Raises `Failure` with one line that says what is wrong and where.
    """
    place, _, attribute = target.partition(":")
    attribute = attribute or "operator"
    if not place:
        raise Failure(f"{target!r} names no operator: {_USAGE}", exit_code=2)
    is_file = place.endswith(".py") or "/" in place
    module_name = _enter_package(Path(place)) if is_file else _enter_directory(place)
    module = _import(module_name, place)
    if not hasattr(module, attribute):
        candidates = [name for name, value in vars(module).items() if isinstance(value, Operator)]
        hint = f"it has an Operator named {candidates[0]!r}: use {place}:{candidates[0]}" if candidates else _USAGE
        raise Failure(f"{place} has no attribute {attribute!r}; {hint}", exit_code=2)
    operator = getattr(module, attribute)
    if not isinstance(operator, Operator):
        raise Failure(f"{target} is a {type(operator).__name__}, not a kubewright.Operator", exit_code=2)
    if not operator.controllers:
        raise Failure(f"operator {operator.name} has no controller: add one with @{attribute}.controller(Kind)")
    return Loaded(operator, f"{module_name}:{attribute}")


def _enter_directory(module: str) -> str:
    """Modules are looked for in the working directory too, as ``python -m`` does."""
    _prepend(Path.cwd())
    return module


def _enter_package(file: Path) -> str:
    """The dotted name of a file, with the folder above its outermost package on the path."""
    if not file.is_file():
        raise Failure(f"{file}: no such file; {_USAGE}", exit_code=2)
    file = file.resolve()
    parts = [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    _prepend(folder)
    return ".".join(parts)


def _prepend(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _import(module: str, place: str) -> object:
    try:
        return importlib.import_module(module)
    except SyntaxError as error:
        raise Failure(f"{error.filename}:{error.lineno}: syntax error: {error.msg}") from error
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise Failure(f"there is no module {place!r} here ({Path.cwd()}); {_USAGE}", exit_code=2) from error
        raise Failure(f"{_last_line(error, place)}: {error}; is it installed in this environment?") from error
    except Exception as error:
        raise Failure(f"{_last_line(error, place)}: {type(error).__name__}: {error}") from error


def _last_line(error: BaseException, place: str) -> str:
    """``file:line`` of the user's own line that failed."""
    ours = str(Path(__file__).parents[1])
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(("<", ours, importlib.__file__))]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else place
