"""The simulated node: pods start, become ready, fail as they are told to, and stop.

Start with `life` (what happens to a pod, and when), then `statuses` (how that looks in its status) and `kubelet` (the
controller that writes it).
"""

__all__: list[str] = []
