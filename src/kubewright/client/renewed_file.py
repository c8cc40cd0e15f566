"""`RenewedFile`: a file that others replace under us, such as a certificate or a service account's token."""

from __future__ import annotations

from pathlib import Path

from kubewright.client.credentials import ConfigError

__all__ = ["RenewedFile"]


class RenewedFile:
    """The content of a file, read again when it was read long ago and changed since.

    kubelet replaces a folder's files by pointing a symbolic link elsewhere, so what the path leads to is compared. A
    file that is gone or empty for a moment leaves the content that we have. ``keep`` is in seconds.
    """

    def __init__(self, path: Path, what: str, *, keep: float) -> None:
        self.path = path
        self._what = what
        self._keep = keep
        self._content = b""
        self._seen: tuple[int, int, int] | None = None
        self._check_at = float("-inf")

    def content(self, now: float) -> bytes:
        """``now``: monotonic seconds. Raises `ConfigError` while the file was never readable."""
        if now >= self._check_at:
            self.reread()
            self._check_at = now + self._keep
        return self._content

    def reread(self) -> bool:
        """Reads the file if it is another; whether the content changed."""
        try:
            stat = self.path.stat()
            seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            content = self._content if seen == self._seen else self.path.read_bytes().strip()
        except OSError as error:
            if not self._content:
                raise ConfigError(f"{self._what} {self.path}: {(error.strerror or str(error)).lower()}") from error
            return False
        if not content:
            if not self._content:
                raise ConfigError(f"{self._what} {self.path} is empty")
            return False
        changed = content != self._content
        self._content, self._seen = content, seen
        return changed
