"""Writes ``src/kubewright/kinds`` from the definitions that the embedded API server serves.

``python -m tools.generate_kinds`` regenerates the modules; ``python -m tools.generate_kinds --data FOLDER`` first
replaces the definitions by those of FOLDER (a new Kubernetes version). Start with `render`.
"""

__all__: list[str] = []
