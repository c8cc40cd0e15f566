"""What a patch is refused with."""

from __future__ import annotations

from kubewright.api import Status

__all__ = ["PatchError"]

_MESSAGES = {422: "the server rejected our request due to an error in our request"}
_REASONS = {400: "BadRequest", 413: "RequestEntityTooLarge", 422: "Invalid"}


class PatchError(ValueError):
    """A patch that can't be read (code 400) or does not fit the object (code 422) or its schema (code 500).

    The text says what is wrong with which operation or field. `status` is what an API server answers, which for a patch
    that does not fit is much less.
    """

    def __init__(self, detail: str, *, code: int = 422) -> None:
        super().__init__(detail)
        self.code = code

    @property
    def status(self) -> Status:
        return Status(
            status="Failure",
            message=_MESSAGES.get(self.code, str(self)),
            reason=_REASONS.get(self.code),
            code=self.code,
        )
