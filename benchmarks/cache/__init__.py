"""How fast and how large the informer cache and the client are, beside client-go and Python's other clients.

Start with ``__main__``. Each measurement is a process of its own: ``contestant`` with one of ``clients``, or the Go peer.
"""
