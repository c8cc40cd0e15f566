"""A current view of what the server has, in memory, that is never older than what we wrote.

Start with `Informer` (one kind) and `Cache` (all kinds of a process); `Store` has the rules, `Reflector` the way from
the server.
"""

from kubewright.cache.cache import Cache
from kubewright.cache.entry import Entry, Key, parse_entry
from kubewright.cache.events import Change, Event, EventType
from kubewright.cache.informer import Indexer, Informer
from kubewright.cache.reflector import Reflector
from kubewright.cache.state import InformerState, Phase
from kubewright.cache.store import Store

__all__ = [
    "Cache",
    "Change",
    "Entry",
    "Event",
    "EventType",
    "Indexer",
    "Informer",
    "InformerState",
    "Key",
    "Phase",
    "Reflector",
    "Store",
    "parse_entry",
]
