"""How fast and how large the embedded cluster is, beside a real API server and kmock. Start with ``__main__``."""
