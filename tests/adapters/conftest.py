"""The index of the server's tests is the adapters' too; a client of the protocol of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mathamr.search.searcher import Index
from tests.models import model_folder, small_graphs
from tests.serve.conftest import index, index_folder

__all__ = ["index", "index_folder", "model_folder", "small_graphs"]


def call_tool(index: Index, tool: str, /, **arguments: Any) -> Any:
    """The result of a tool, through the protocol."""
    return _with_client(index, lambda client: client.call_tool(tool, arguments))


def list_tools(index: Index) -> set[str]:
    """The names of the tools, all of which describe themselves and what they take."""
    found = _with_client(index, lambda client: client.list_tools()).tools
    for tool in found:
        assert tool.description
        assert tool.annotations.read_only_hint
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), (tool.name, name)
    return {tool.name for tool in found}


def _with_client(index: Index, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    from mcp import Client

    from mathamr.adapters.mcp import tools

    async def scenario() -> Any:
        async with Client(tools(index)) as client:
            return await ask(client)

    return asyncio.run(scenario())
