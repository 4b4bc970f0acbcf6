"""The engine `qdrant`: a Qdrant server or cluster, by URL and API key.

The folder holds no vectors, only `engine.json` with the URL and the prefix of its collections' names; the API key is read from
the environment each time. With the URL `local` the client's own small engine stores them in the folder: it answers the same
calls, slowly, and is meant for trials.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import QDRANT_API_KEY, QDRANT_URL
from mathamr.index.engines.engine import Engine, EngineHead, by_kind, read_options
from mathamr.index.engines.nearestfield import NearestField
from mathamr.index.engines.qdrant.collection import LIBRARY, LOCAL, QdrantCollection, ServerOptions

PORT = 6333


class ServerEngine(Engine):
    """A collection of a server for every kind of entry; see `Engine`."""

    name: ClassVar[str] = "qdrant"
    remote = True
    library = LIBRARY
    _client: Any

    @classmethod
    def choose_options(cls, options: Mapping[str, Any] | None) -> ServerOptions:
        """Return the options with a server and a new name of the collections."""
        chosen = read_options(ServerOptions, cls.name, options)
        if not (chosen.url or QDRANT_URL.value):
            raise MathAMRError(
                "no Qdrant server is named; set MATHAMR_QDRANT_URL (and MATHAMR_QDRANT_API_KEY), or the option url"
            )
        collection = chosen.collection or f"mathamr-{uuid.uuid4().hex[:12]}"
        return replace(chosen, url=chosen.url or QDRANT_URL.value, collection=collection)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:
        """Return the collections that a folder names."""
        head = EngineHead.read(folder, cls.name)
        options = read_options(ServerOptions, cls.name, head.options)
        client = _client(folder, options, is_new=is_new)
        try:
            stores = {
                of: QdrantCollection(of, own, client, options, writable=not read_only)
                for of, own in by_kind(head.fields).items()
            }
            for collection in stores.values():
                if is_new:
                    collection.create()
                else:
                    collection.check()
        except BaseException:
            client.close()
            raise
        engine = cls(
            folder,
            head.fields,
            stores,
            {each.name: NearestField(each, stores[each.of]) for each in head.fields},
        )
        engine._client = client
        return engine

    def flush(self) -> None:
        """Do nothing: the server has acknowledged every write."""

    def optimize(self) -> None:
        """Do nothing: the server optimizes by itself."""

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of a server, to which an API key belongs."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        return (parts.scheme, parts.hostname, parts.port or PORT) if parts.hostname else None
    except ValueError:
        return None


def _client(folder: Path, options: ServerOptions, *, is_new: bool) -> Any:
    import qdrant_client

    ours = options.url != LOCAL and origin(options.url) in {origin(QDRANT_URL.value)} - {None}
    if not (is_new or ours or options.url == LOCAL):
        raise MathAMRError(
            f"{folder} keeps its vectors on the Qdrant server {options.url[:200]!r}, which MATHAMR_QDRANT_URL does not"
            " name; a folder never chooses whom to speak with: if it is yours, set MATHAMR_QDRANT_URL to it"
        )
    with LIBRARY.reporting(f"open {options.url}"), warnings.catch_warnings():
        # An API key over plain http to this machine is the user's choice.
        warnings.simplefilter("ignore", UserWarning)
        if options.url == LOCAL:
            return qdrant_client.QdrantClient(path=str(folder / LOCAL), force_disable_check_same_thread=True)
        return qdrant_client.QdrantClient(
            url=QDRANT_URL.value if ours else options.url,
            api_key=(QDRANT_API_KEY.value or None) if ours else None,
            timeout=options.timeout,
            check_compatibility=False,
        )
