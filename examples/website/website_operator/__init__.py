"""A Kubernetes operator that serves pages. Read `api.v1alpha1` (the resource), `desired` (what it stands for), `operator`."""
