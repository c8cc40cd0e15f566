"""The ``kubewright`` command. One module per command; `main` lists them without importing what they need."""
