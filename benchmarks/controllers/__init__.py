"""`make bench-controllers`: reconciles beside Kopf, client-go and a bare loop; the Database operator at work; the queue.

Start with `plan`, which says what is measured, and `contestant`, the process in which one measurement runs.
"""
