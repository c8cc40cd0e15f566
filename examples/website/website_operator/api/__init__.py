"""The resources this operator brings, by version."""
