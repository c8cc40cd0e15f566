"""Changes to objects as data. No I/O; everything works on decoded JSON and leaves its inputs as they were.

Start with `json_patch` (RFC 6902, and the difference that Kubewright writes after a typed edit), `merge_patch` and
`strategic`; `apply` is server-side apply and the books of who owns which field, `fields` the sets of fields that it
keeps them in. `shape` tells them all how a kind's lists and maps merge.
"""

from kubewright.patch.apply import ApplyConflict, applied_fields, equal_but_times, track_update
from kubewright.patch.errors import PatchError
from kubewright.patch.fields import NOTHING, FieldSet, FieldSetError, digest
from kubewright.patch.shape import UNTYPED, Shape, ShapeError

__all__ = [
    "NOTHING",
    "UNTYPED",
    "ApplyConflict",
    "FieldSet",
    "FieldSetError",
    "PatchError",
    "Shape",
    "ShapeError",
    "applied_fields",
    "digest",
    "equal_but_times",
    "track_update",
]
