"""The suite tested: 30 deviations planted into the embedded server, each of which some case must notice.

``python -m tests.conformance.planted`` plants one after the other and says which case caught it.
"""
