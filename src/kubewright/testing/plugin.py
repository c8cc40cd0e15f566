"""The pytest plugin: fixtures ``cluster`` and ``client``, and the ``virtual`` loop factory of pytest-asyncio."""

from __future__ import annotations
