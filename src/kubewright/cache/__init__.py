"""A current view of what the server has, in memory, that is never older than what we wrote.

Start with `Informer` (one kind) and `Cache` (all kinds of a process); `SharedInformer` is what several classes of a kind
have in common, `Store` has the rules, `Reflector` the way from the server, `Entry` what is kept of an object.
"""

from kubewright.cache.cache import Cache
from kubewright.cache.delivery import Feed
from kubewright.cache.entry import Entry, Key
from kubewright.cache.events import Change, Event, EventType
from kubewright.cache.index_by import IndexBy
from kubewright.cache.indexers import Indexer
from kubewright.cache.informer import Informer
from kubewright.cache.parsing import EntryParser
from kubewright.cache.projection import METADATA, WHOLE, NotHeld, Projection
from kubewright.cache.reflector import Reflector
from kubewright.cache.shared_informer import SharedInformer
from kubewright.cache.state import InformerHealth, InformerState, Phase
from kubewright.cache.store import Store

__all__ = [
    "METADATA",
    "WHOLE",
    "Cache",
    "Change",
    "Entry",
    "EntryParser",
    "Event",
    "EventType",
    "Feed",
    "IndexBy",
    "Indexer",
    "Informer",
    "InformerHealth",
    "InformerState",
    "Key",
    "NotHeld",
    "Phase",
    "Projection",
    "Reflector",
    "SharedInformer",
    "Store",
]
