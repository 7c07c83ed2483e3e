"""The way in."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generator, Optional, Type

from .client import AsyncClient
from .options import Options, parse
from .sync import Client


class Connect:
    """A connection that is to be made: `with` gives a Client, `async with` and `await` an AsyncClient.

    `open()` gives a Client where no `with` block fits; close it.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._client: Optional[Client] = None
        self._async_client: Optional[AsyncClient] = None

    def open(self) -> Client:
        return Client(self.options)

    async def _open(self) -> AsyncClient:
        client = AsyncClient(self.options)
        await client.open()
        return client

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._open().__await__()

    def __enter__(self) -> Client:
        self._client = self.open()
        return self._client.__enter__()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        assert self._client is not None
        self._client.__exit__(kind, error, trace)

    async def __aenter__(self) -> AsyncClient:
        self._async_client = await self._open()
        return await self._async_client.__aenter__()

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        assert self._async_client is not None
        await self._async_client.__aexit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this is no client yet, so it has no '{name}': write `with gorgo.connect() as client:`, "
                             "`async with ..`, `await gorgo.connect()`, or `gorgo.connect().open()`")


def connect(address: Optional[str] = None, **options: Any) -> Connect:
    """A connection to `gorgo://USER@HOST:PORT?tls=..`, or to what GORGO_SERVER says, else to this machine.

    `options` are those of `gorgo.Options`. It tries for `timeout` seconds and then raises the reason.
    """
    return Connect(parse(address, options))
