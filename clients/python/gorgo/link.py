"""A connection that comes back: it connects again for as long as nobody closes it."""

from __future__ import annotations

import asyncio
import random
from typing import Awaitable, Callable, Optional

from .connection import Connection, OnDeliver, OnLeaving, OnReply, within
from .errors import AddressError, ClosedError, Error, InvalidText, ServerError
from .options import Options

# Errors of the server that trying again does not mend: of them the durable subscription is another's or nobody's
# (`not_found`), and the others are about who asks.
_FINAL = ("unauthenticated", "forbidden", "not_found")
_PASSING = ("overloaded", "stopping", "timeout")  # errors of the server that go away by themselves


class Backoff:
    """Delays that double up to a bound, each with a random share, so that clients do not come back all at once."""

    def __init__(self, least: float, most: float) -> None:
        self._least = least
        self._most = most
        self._next = least

    def reset(self) -> None:
        self._next = self._least

    def next(self) -> float:
        delay = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._most, 2 * self._next)
        return delay


class Link:
    """Keeps one connection up.

    on_up is awaited on each new connection; an Error that it raises ends the connection. on_down is called with the
    reason when a connection that was up has ended and will come back. on_end is called once, with an error that trying
    again does not mend.
    """

    def __init__(self, options: Options, on_deliver: OnDeliver, on_reply: OnReply,
                 on_up: Callable[[Connection, int], Awaitable[None]], on_down: Callable[[Error], None],
                 on_end: Callable[[Error], None], on_leaving: OnLeaving = lambda grace: None) -> None:
        self.options = options
        self.connection: Optional[Connection] = None
        self.failure: Optional[Error] = None  # of the last attempt to connect
        self.ended: Optional[Error] = None  # why there will be no connection any more
        self._on_deliver = on_deliver
        self._on_reply = on_reply
        self._on_leaving = on_leaving
        self._on_up = on_up
        self._on_down = on_down
        self._on_end = on_end
        self._was_up = False
        self._attempts = 0
        self._changed = asyncio.Event()
        self._task: Optional[asyncio.Task[None]] = None

    @property
    def was_up(self) -> bool:
        """Whether there has been a connection of use."""
        return self._was_up

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def up(self, timeout: float) -> Connection:
        """The connection, once there is one. Raises the reason when there is none in time."""
        deadline = asyncio.get_running_loop().time() + timeout
        while self.connection is None or self.connection.ended.done():
            assert self._task is not None
            if self._task.done():
                raise self.failure or ClosedError("the client is closed")
            self._changed.clear()
            try:
                await within(self._changed.wait(), deadline - asyncio.get_running_loop().time())
            except asyncio.TimeoutError:
                raise self.failure or ClosedError("there is no connection") from None
        return self.connection

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        backoff = Backoff(self.options.reconnect_least, self.options.reconnect_most)
        while True:
            begin = loop.time()
            try:
                await self._live()
            except Error as error:
                self.failure = error
                if self._is_final(error):
                    self.ended = error
                    self._on_end(error)
                    self._changed.set()
                    return
            if loop.time() - begin > self.options.reconnect_most:
                backoff.reset()
            await asyncio.sleep(backoff.next())

    def _is_final(self, error: Error) -> bool:
        """Whether trying again is in vain. What the server refuses at first is; later its operators may mend it."""
        if isinstance(error, (AddressError, InvalidText)) or error.code in _FINAL:
            return True
        return not self._was_up and isinstance(error, ServerError) and error.code not in _PASSING

    async def _live(self) -> None:
        self._attempts += 1
        connection = await Connection.open(self.options, self._on_deliver, self._on_reply, self._on_leaving)
        try:
            await self._on_up(connection, self._attempts)
        except BaseException as error:
            connection.abort(error if isinstance(error, Error) else ClosedError("the client is closed"))
            raise
        self.connection = connection
        self._was_up = True
        self._attempts = 0
        self._changed.set()
        try:
            await asyncio.wait((connection.ended,))  # a cancellation does not reach `ended`
        except asyncio.CancelledError:
            connection.abort(ClosedError("the client is closed"))
            raise
        self.failure = connection.ended.result()
        if self._is_final(self.failure):
            raise self.failure
        self._on_down(self.failure)

    async def close(self) -> None:
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self.failure = ClosedError("the client is closed")
        self._changed.set()
