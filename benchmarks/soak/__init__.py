"""`make soak`: the Database operator under constant churn, and whether what it takes stays what it is.

Three processes: the embedded cluster with its controllers, the operator (`operator_process`), and this one, which
makes, edits and deletes Databases (`churn`) and looks at the operator from outside (`samples`).
"""
