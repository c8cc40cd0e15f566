"""A Kubernetes operator that deletes pods which finished long ago. Read `operator`: that is all of it."""
