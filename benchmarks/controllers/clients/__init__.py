"""Those who reconcile widgets: each does the same work in its own way."""
