"""`Bodies`: whole objects of a kind of which the cache holds only a part, read when they are asked for.

Secrets and ConfigMaps are many, some are large, and most are nobody's business here: what is not asked for is not in memory.
"""

from __future__ import annotations

from collections import OrderedDict

from kubewright.api import DecodeError, NotFound, ResourceInfo
from kubewright.cache.entry import Entry
from kubewright.cache.events import Change
from kubewright.cache.parsing import EntryParser
from kubewright.cache.projection import WHOLE, Projection
from kubewright.client.rest import RestClient

__all__ = ["Bodies", "RecentBodies"]

_LIMIT = 16_000_000


class RecentBodies:
    """The whole objects used last, ``limit`` bytes of JSON in all; of each object one version.

    ``form`` is the apiVersion in which the object is written.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def at(self, form: str, entry: Entry) -> Entry | None:
        """The whole object in just the state of ``entry``."""
        whole = self._kept.get((form, entry.uid))
        if whole is None or whole.resource_version != entry.resource_version:
            return None
        self._kept.move_to_end((form, entry.uid))
        return whole

    def keep(self, form: str, whole: Entry) -> None:
        """Takes one in, unless a newer version is here; those that were not used for longest make room."""
        present = self._kept.get((form, whole.uid))
        if present is not None and present.resource_version > whole.resource_version:
            return
        self.drop(form, whole.uid)
        self._kept[form, whole.uid] = whole
        self.bytes += len(whole.text)
        while self.bytes > self._limit:
            self.drop(*next(iter(self._kept)))

    def drop(self, form: str, uid: str, *, before: int | None = None) -> None:
        """Lets go of an object, or only of versions ``before`` one."""
        present = self._kept.get((form, uid))
        if present is None or (before is not None and present.resource_version >= before):
            return
        del self._kept[form, uid]
        self.bytes -= len(present.text)


class Bodies:
    """The whole objects behind one informer's entries.

    Guarantees: what is read is never older than the entry it is read for, and read once for each version, as long as it
    is among the `RecentBodies`. An object that changed, or is gone, is let go of when the informer hears of it.
    """

    def __init__(self, rest: RestClient, info: ResourceInfo, projection: Projection, recent: RecentBodies) -> None:
        self._rest = rest
        self._info = info
        self._all_held = projection == WHOLE
        self._recent = recent
        self._parser = EntryParser(info)

    def in_memory(self, entry: Entry) -> Entry | None:
        """The entry with the whole object, if it is here; asks nobody."""
        return entry if self._all_held else self._recent.at(self._info.api_version, entry)

    async def of(self, entry: Entry) -> Entry | None:
        """The entry with the whole object: from memory, or as the server has it now, which may be a newer state, or
        another object of that name. None where it is gone. Raises what a request may raise, and `DecodeError`.
        """
        found = self.in_memory(entry)
        if found is not None:
            return found
        try:
            raw = await self._rest.get(self._info, entry.name, namespace=entry.namespace or None)
        except NotFound:
            return None
        whole = self._parser.parse(raw)
        self._recent.keep(self._info.api_version, whole)
        return whole

    def parse(self, raw: bytes) -> Entry:
        """An object as the server gave it. Raises `DecodeError`."""
        return self._parser.parse(raw)

    def fold(self, raw: bytes) -> Entry | None:
        """Takes an object as the server just gave it, by reading or writing, which will be asked for again.

        Returns it as an entry; None where all is held anyway, and for what can't be cached.
        """
        if self._all_held:
            return None
        try:
            whole = self._parser.parse(raw)
        except DecodeError:  # whoever asks for it reads it, and is told
            return None
        self._recent.keep(self._info.api_version, whole)
        return whole

    def heard(self, change: Change) -> None:
        """What became of an object."""
        old, new = change.old, change.new
        if old is None:
            return
        goes_on = new is not None and new.resource_version >= old.resource_version  # else it has another history
        before = new.resource_version if new is not None and goes_on else None
        self._recent.drop(self._info.api_version, old.uid, before=before)
