"""`readings`: a cache's figures, for metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kubewright.cache.cache import Cache
from kubewright.cache.state import InformerHealth
from kubewright.telemetry import Reading, catalog

__all__ = ["readings"]


def readings(cache: Cache) -> Iterator[Reading]:
    """What each resource's informers hold together, and how well they do; of several, the worst."""
    by_resource: defaultdict[str, list[InformerHealth]] = defaultdict(list)
    for health in cache.health():
        by_resource[health.resource].append(health)
    for resource, informers in by_resource.items():
        labels = (resource,)
        yield Reading(catalog.CACHE_OBJECTS, labels, sum(each.objects for each in informers))
        yield Reading(catalog.CACHE_BYTES, labels, sum(each.bytes for each in informers))
        yield Reading(catalog.CACHE_IN_STEP, labels, all(each.in_step for each in informers))
        yield Reading(catalog.CACHE_RELISTS, labels, sum(each.relists for each in informers))
        yield Reading(catalog.CACHE_RECONNECTS, labels, sum(each.reconnects for each in informers))
        yield Reading(catalog.CACHE_UNREADABLE, labels, sum(each.unreadable for each in informers))
        ages = [each.last_event_age for each in informers if each.last_event_age is not None]
        if ages:
            yield Reading(catalog.CACHE_SILENCE, labels, max(ages))
