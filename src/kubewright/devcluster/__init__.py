"""The embedded Kubernetes: an API server, its storage, its built-in kinds and controllers, in this process.

Start with `cluster` (`DevCluster`, all of it put together), then `api_server` (one request in, one answer out), `store`
(what is kept) and `catalog` (which kinds are served).
"""

__all__: list[str] = []
