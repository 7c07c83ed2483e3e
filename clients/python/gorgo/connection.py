"""One connection: frames in and out, requests and their replies, signs of life."""

from __future__ import annotations

import asyncio
import socket
import ssl
from ipaddress import ip_address
from typing import Any, Awaitable, Callable, Dict, Optional, Tuple, TypeVar

from . import schema
from .errors import AddressError, ConnectError, Error, ProtocolError, ServerError, TimeoutError
from .flat import PREFIX, Table
from .options import Options

T = TypeVar("T")
Reply = Tuple[Table, Dict[str, Any]]
# Called with a delivery's values and the bytes of its frame.
OnDeliver = Callable[[Dict[str, Any], int], None]
# Called with the id and the message of a reply that no request of `ask` waits for.
OnReply = Callable[[int, Reply], None]
# Called with the seconds that a server serves on before it stops.
OnLeaving = Callable[[float], None]
# Called with a reply before anything that came behind it is looked at.
Then = Callable[[Reply], None]


def server_error(values: Dict[str, Any]) -> ServerError:
    code = values["code"]
    known = schema.ERROR_CODES[code] if code < len(schema.ERROR_CODES) else f"error_{code}"
    return ServerError(values["message"], values["hint"] or "", known)


class Connection(asyncio.Protocol):
    """It belongs to one event loop. When it has ended, `ended` has the reason, and nothing is called any more."""

    def __init__(self, options: Options, on_deliver: OnDeliver, on_reply: OnReply,
                 on_leaving: OnLeaving = lambda grace: None) -> None:
        self.loop = asyncio.get_running_loop()
        self.options = options
        self.ended: asyncio.Future[Error] = self.loop.create_future()
        self.max_frame = schema.GREETING
        self.max_rows = 0
        self._on_deliver = on_deliver
        self._on_reply = on_reply
        self._on_leaving = on_leaving
        self._transport: Optional[asyncio.Transport] = None
        self._input = bytearray()
        self._waiting: Dict[int, Tuple[asyncio.Future[Reply], Optional[Then]]] = {}
        self._next_id = -1
        self._paused = False
        self._last_sign = self.loop.time()
        self._timer: Optional[asyncio.TimerHandle] = None
        self._last_words: Optional[Error] = None

    @classmethod
    async def open(cls, options: Options, on_deliver: OnDeliver, on_reply: OnReply,
                   on_leaving: OnLeaving = lambda grace: None) -> "Connection":
        """Connects and greets; raises an Error when that fails or takes longer than the timeout."""
        connection = cls(options, on_deliver, on_reply, on_leaving)
        try:
            await within(connection._open(), options.timeout)
        except asyncio.TimeoutError:
            connection.abort(ConnectError(f"{options.address} did not answer within {options.timeout:g} s"))
        except (OSError, ssl.SSLError) as error:
            connection.abort(ConnectError(f"cannot connect to {options.address}: {error}",
                                          "is `gorgo serve` running there?"))
        except Error as error:
            connection.abort(error)
            raise  # the server may have closed the connection behind its refusal, which says more
        except BaseException:
            connection.abort(ConnectError("connecting was given up"))
            raise
        if connection.ended.done():
            raise connection.ended.result()
        return connection

    async def _open(self) -> None:
        options = self.options
        context = options.context()
        host = options.host if context else None
        await self.loop.create_connection(lambda: self, options.host, options.port, ssl=context, server_hostname=host)
        table, welcome = await self.ask(schema.HELLO, {
            "min_version": schema.VERSION, "max_version": schema.VERSION, "client": options.name,
            "heartbeats": True, **self._credentials()})
        if table is not schema.WELCOME:
            raise ProtocolError("the server did not answer the greeting", "is this the port of the native protocol?")
        self.max_frame = welcome["max_frame"]
        self.max_rows = welcome["max_rows"]
        if options.heartbeat > 0:
            self._timer = self.loop.call_later(options.heartbeat, self._look)

    def _credentials(self) -> Dict[str, Optional[str]]:
        """Who the client is. Secrets go over TLS, or do not leave this machine."""
        found = self.options.credentials()
        transport = self._transport
        if not any(found.values()) or transport is None or transport.get_extra_info("ssl_object"):
            return found
        if not ip_address(transport.get_extra_info("peername")[0].split("%")[0]).is_loopback:
            raise AddressError(f"a secret is not sent to {self.options.address} without TLS", "add ?tls=true to the address")
        return found

    # Requests

    def ask(self, table: Table, values: Dict[str, Any], then: Optional[Then] = None) -> "asyncio.Future[Reply]":
        """Sends a request. The future has the reply; errors of the server are raised."""
        future: asyncio.Future[Reply] = self.loop.create_future()
        if self.ended.done():
            future.set_exception(self.ended.result())
            return future
        # Ids from the upper half: the lower half numbers publications.
        self._next_id += 1
        number = (1 << 63) + self._next_id
        self._waiting[number] = (future, then)
        self.send(schema.encode(number, table, values))
        return future

    def send(self, frame: bytes) -> None:
        if self._transport is not None:
            self._transport.write(frame)

    def pause(self, paused: bool) -> None:
        """Stops reading, or goes on."""
        if self._transport is None or paused == self._paused or self.ended.done():
            return
        self._paused = paused
        self._last_sign = self.loop.time()
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def abort(self, reason: Error) -> None:
        """Ends the connection at once."""
        if self.ended.done():
            return
        self.ended.set_result(self._last_words or reason)
        if self._timer is not None:
            self._timer.cancel()
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(self.ended.result())
                future.exception()  # where nobody waits any more, asyncio shall not complain
        self._waiting.clear()
        if self._transport is not None:
            self._transport.abort()

    # What comes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.ended.done():
            transport.abort()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.abort(ConnectError(f"{self.options.address} closed the connection" + (f": {exc}" if exc else "")))

    def data_received(self, data: bytes) -> None:
        self._last_sign = self.loop.time()
        self._input += data
        try:
            self._cut()
        except ProtocolError as error:
            self.abort(error)

    def _cut(self) -> None:
        begin, have = 0, len(self._input)
        with memoryview(self._input) as view:
            while have - begin >= PREFIX and not self.ended.done():
                size = PREFIX + int.from_bytes(view[begin : begin + PREFIX], "little")
                if size > self.max_frame:
                    raise ProtocolError(f"the server announced a frame of {size} bytes; the limit is {self.max_frame}",
                                        "is this the port of the native protocol?")
                if have - begin < size:
                    break
                frame = bytes(view[begin : begin + size])
                begin += size
                self._take(frame)
        del self._input[:begin]

    def _take(self, frame: bytes) -> None:
        number, table, values = schema.decode(frame)
        if table is schema.DELIVER:
            self._on_deliver(values, len(frame))
        elif number == 0:
            self._take_unasked(table, values)
        elif number >> 63:
            self._answer(number, table, values)
        else:
            self._on_reply(number, (table, values))

    def _answer(self, number: int, table: Table, values: Dict[str, Any]) -> None:
        future, then = self._waiting.pop(number, (None, None))
        if future is None or future.done():
            return
        if table is schema.ERROR or table is schema.UNKNOWN:
            future.set_exception(server_error(values) if values else ProtocolError(
                "the server answered in a way that this client does not know", "a newer version of it may"))
            return
        if then is not None:
            then((table, values))
        future.set_result((table, values))

    def _take_unasked(self, table: Table, values: Dict[str, Any]) -> None:
        """What this version does not know is left to later ones."""
        if table is schema.PING:
            self.send(schema.encode(0, schema.PONG, {}))
        elif table is schema.ERROR:  # it says why the server is about to close
            self._last_words = server_error(values)
        elif table is schema.LEAVING:
            self._on_leaving(values["grace_ms"] / 1000)

    # Signs of life

    def _look(self) -> None:
        """Asks a quiet server for a sign of life, and gives it up when that does not come either."""
        quiet = self.loop.time() - self._last_sign
        heartbeat = self.options.heartbeat
        if quiet >= 2 * heartbeat and not self._paused:
            self.abort(ConnectError(f"{self.options.address} gave no sign of life for {quiet:.1f} s"))
            return
        if quiet >= heartbeat and not self._paused:
            self.ask(schema.PING, {}).add_done_callback(lambda done: done.cancelled() or done.exception())
        rest = heartbeat - quiet if quiet < heartbeat else heartbeat / 2
        self._timer = self.loop.call_later(max(rest, heartbeat / 4), self._look)


async def within(work: Awaitable[T], timeout: Optional[float]) -> T:
    """The result of the work, or asyncio.TimeoutError.

    asyncio.wait_for of Python before 3.12 may swallow a cancellation that comes when the work is just done.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task,), timeout=timeout)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        task.cancel()


async def answer(future: "asyncio.Future[Reply]", timeout: float) -> Reply:
    """The reply, or a TimeoutError."""
    try:
        return await within(future, timeout)
    except asyncio.TimeoutError:
        raise TimeoutError(f"no answer came within {timeout:g} s", "the server may be busy; raise `timeout`") from None
