"""The ``kubewright`` command. One module per command; `commands` lists them without importing what they need."""
