"""Names of images as a container runtime spells them."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["full_image_name", "image_id", "pull_error"]


def full_image_name(image: str) -> str:
    """``nginx`` → ``docker.io/library/nginx:latest``."""
    first, slash, _ = image.partition("/")
    if not slash:
        image = f"docker.io/library/{image}"
    elif "." not in first and ":" not in first and first != "localhost":
        image = f"docker.io/{image}"
    if "@" in image or ":" in image.rpartition("/")[2]:
        return image
    return f"{image}:latest"


def image_id(image: str) -> str:
    """The digest that stands for an image, made up but always the same."""
    full = full_image_name(image)
    if "@" in full:
        return full
    repository = full.rpartition(":")[0]
    return f"{repository}@sha256:{sha256(full.encode()).hexdigest()}"


def pull_error(image: str) -> str:
    """What containerd says of an image that does not exist."""
    full = full_image_name(image)
    return (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{full}": '
        f'failed to resolve reference "{full}": {full}: not found'
    )
