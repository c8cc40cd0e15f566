"""A Kubernetes operator for databases. Read `api.v1alpha1` (the resource), `desired` (what it stands for), `operator`."""
