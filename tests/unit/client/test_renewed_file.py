"""Files that are replaced while we use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubewright.client import ConfigError
from kubewright.client.renewed_file import RenewedFile


def test_a_file_is_read_again_when_it_was_read_long_ago(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("t\n")
    file = RenewedFile(path, "token file", keep=60)
    assert file.content(0.0) == b"t"
    path.write_text("t2")
    assert file.content(59.0) == b"t"
    assert file.content(60.0) == b"t2"
    path.write_text("t3")
    assert file.reread()
    assert file.content(61.0) == b"t3"
    assert not file.reread()


def test_kubelet_replaces_a_folder_by_its_link(tmp_path: Path) -> None:
    """``token`` → ``..data/token``, and ``..data`` → the folder of this version."""
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "token").write_text(version)
    (tmp_path / "..data").symlink_to("v1")
    (tmp_path / "token").symlink_to("..data/token")
    file = RenewedFile(tmp_path / "token", "token file", keep=60)
    assert file.content(0.0) == b"v1"
    (tmp_path / "..new").symlink_to("v2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert file.content(60.0) == b"v2"


def test_a_file_that_is_being_replaced_leaves_what_we_have(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("t")
    file = RenewedFile(path, "token file", keep=60)
    assert file.content(0.0) == b"t"
    path.write_text("")
    assert file.content(60.0) == b"t"
    path.unlink()
    assert file.content(120.0) == b"t"


def test_a_file_must_hold_something(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="token file .*nope: no such file"):
        RenewedFile(tmp_path / "nope", "token file", keep=60).content(0.0)
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ConfigError, match="token file .* is empty"):
        RenewedFile(tmp_path / "empty", "token file", keep=60).content(0.0)
