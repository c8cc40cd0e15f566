"""Changes to objects as data. No I/O; everything works on decoded JSON and leaves its inputs as they were.

Start with `json_patch` (RFC 6902, and the difference that Kubewright writes after a typed edit), `merge_patch` and
`strategic`; `fields` is the sets of fields that server-side apply keeps books with, `apply` the merge itself. `shape`
tells them how a kind's lists and maps merge.
"""
