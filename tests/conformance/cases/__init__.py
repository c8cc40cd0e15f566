"""The cases, one module a subject. Importing this package registers none of them: see `registry.all_cases`."""
