"""A subscription: a connection of its own, and the stream of what came over it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any, AsyncIterator, Deque, Dict, Iterator, List, Optional, Tuple, Union

from . import schema
from .batch import Batch, behind
from .connection import Connection, Reply, answer, within
from .errors import ClosedError, ConnectError, Error, InvalidText, OutcomeUnknown, UsageError
from .events import Disconnected, Event, Gap, Leaving, Notice, Place, Reconnected
from .link import Link
from .options import Options
from .replies import to_diagnostics, to_durable

_log = logging.getLogger("gorgo")
_ID = 1  # a connection has one subscription
_NOWHERE = Place(0, 0)  # before all events

BatchOrNotice = Union[Batch, Notice]
EventOrNotice = Union[Event, Notice]


def _lost_places(values: Dict[str, Any]) -> Tuple[Optional[Place], Optional[Place]]:
    """The first and the last place that a Deliver tells as lost; older servers say neither."""
    if not values["last_lost_root"] and not values["last_lost_ordinal"]:
        return None, None
    return (Place(values["first_lost_root"], values["first_lost_ordinal"]),
            Place(values["last_lost_root"], values["last_lost_ordinal"]))


class AsyncSubscription:
    """Yields what matches `text`, and a notice wherever something may be missing.

    It connects and subscribes again for as long as it is not closed. It ends with an error only when the server does
    not accept the text any more, or another client has taken over its durable subscription, and quietly when it was
    drained or closed.
    """

    def __init__(self, text: str, options: Options, durable: Optional[str] = None, seen: Optional[Place] = None,
                 credit: Optional[int] = None) -> None:
        if durable is not None and credit is not None:
            raise UsageError("a durable subscription needs no credit: what the client does not read waits at the server")
        if seen is not None and durable is None:
            raise UsageError("only a durable subscription goes on behind what was seen")
        if credit is not None and credit < 1:
            raise UsageError("credit is a number of events, at least 1")
        self.text = text
        self.durable = durable
        self.acknowledged = _NOWHERE  # up to where the server's answer says that it survives a crash
        self._seen = seen or _NOWHERE  # the last event that came
        self._done = _NOWHERE  # acknowledged by the reader
        self._begun_anew = False  # in another journal, while the reader may be busy with what came before
        self._acknowledging: Optional[Connection] = None  # it carries one
        self._credit = credit
        self._taken = 0  # events that the reader took and the server does not know of
        self.lost = 0  # events that the server told as lost
        self._told = Gap("")  # the last one of a durable subscription, with all before it
        self._options = options
        self._bound: float = options.receive_bytes
        self._link = Link(options, self._deliver, lambda number, reply: None, self._up, self._down,
                          self._fail, self._leaving)
        self._items: Deque[Tuple[BatchOrNotice, int]] = deque()
        self._bytes = 0  # of the frames that wait
        self._paused = False
        self._pauses = 0
        self._received = 0
        self._reconnections = 0
        self._down_since: Optional[float] = None
        self._last_down: Optional[Error] = None
        self._waiter: Optional[asyncio.Future[None]] = None
        self._ended = False
        self._settled = asyncio.Event()
        self._failure: Optional[Error] = None
        self._events: Iterator[Event] = iter(())

    async def open(self) -> None:
        """Subscribes; raises InvalidText where the server finds errors in the text."""
        self._link.start()
        try:
            await self._link.up(self._options.timeout)
        except BaseException:
            await self.close()
            raise

    # What the link calls

    async def _up(self, connection: Connection, attempts: int) -> None:
        def then(reply: Reply) -> None:
            if reply[0] is schema.ACK:
                self._resumed(attempts, is_another)

        is_another = self.durable is not None and self._link.was_up and await self._is_another(connection)
        self._taken = 0
        asked = connection.ask(schema.SUBSCRIBE, {
            "subscription": _ID, "text": self.text, "durable": self.durable, "credit_rows": self._credit}, then)
        try:
            table, values = await within(asked, self._options.timeout)
        except asyncio.TimeoutError:
            raise ConnectError("the server did not answer the subscription") from None
        self._send_acknowledgement(connection)
        if table is schema.DIAGNOSTICS:
            diagnostics = to_diagnostics(values)
            if any(d.severity == "error" for d in diagnostics):
                raise InvalidText(diagnostics)
            self._resumed(attempts, is_another)
            for d in diagnostics:
                _log.warning("subscription '%s': %s", self.text, d)

    async def _is_another(self, connection: Connection) -> bool:
        """Whether the server's journal is another one, where the subscription begins anew under the same name.

        Then what has come says nothing about the places of what will.
        """
        _, values = await answer(connection.ask(schema.LIST_DURABLES, {}), self._options.timeout)
        found = [to_durable(v) for v in values["list"] or () if v["name"] == self.durable]
        if found and found[0].acknowledged >= self.acknowledged:
            return False
        self._seen = self._done = self.acknowledged = _NOWHERE
        self._told = Gap("")
        self._begun_anew = True
        return True

    def _resumed(self, attempts: int, is_another: bool) -> None:
        if self._down_since is None:
            return
        seconds = asyncio.get_running_loop().time() - self._down_since
        self._down_since = None
        self._reconnections += 1
        reason = self._last_down.message if self._last_down else ""
        self._put(Reconnected(seconds, attempts))
        if self.durable is None:
            self._put(Gap(f"the connection was lost: {reason}"))
        elif is_another:
            self._put(Gap("the server has another journal, and has begun the durable subscription anew"))

    def _down(self, reason: Error) -> None:
        if self._ended:
            return
        self._acknowledging = None
        self._down_since = asyncio.get_running_loop().time()
        self._last_down = reason
        self._paused = False
        self._put(Disconnected(str(reason), reason.code))

    def _leaving(self, grace: float) -> None:
        self._put(Leaving(grace))

    def _deliver(self, values: Dict[str, Any], size: int) -> None:
        if values["lost"]:
            reason = (
                "this client was too slow"
                if self.durable is None
                else "more than journal.backlog_bytes waited for this durable subscription"
            )
            self._tell_lost(Gap(reason, values["lost"], *_lost_places(values)))
        rest = values if self.durable is None else behind(values, self._seen)
        if rest is None:
            return
        batch = Batch(rest, size)
        if len(batch):
            self._seen = batch.last
            self._received += len(batch)
            self._put(batch, size)

    def _tell_lost(self, gap: Gap) -> None:
        """A durable subscription tells on each connection of all that it has lost since the last acknowledgement."""
        if self.durable is not None and gap.last is not None:
            told = self._told
            if gap.last <= max(self._seen, told.last or _NOWHERE):
                return
            self._told = gap
            if gap.first == told.first and gap.lost is not None and told.lost is not None:
                gap = gap._replace(lost=gap.lost - told.lost)
        self.lost += gap.lost or 0
        self._put(gap)

    def _put(self, item: BatchOrNotice, size: int = 0) -> None:
        if self._ended:
            return
        self._items.append((item, size))
        self._bytes += size
        if self._bytes > self._bound and not self._paused:
            self._pause(True)
        self._wake()

    def _pause(self, paused: bool) -> None:
        self._paused = paused
        if paused:
            self._pauses += 1
            _log.info("subscription '%s': %d bytes wait for their reader; the client stops reading", self.text,
                      self._bytes)
        if self._link.connection is not None:
            self._link.connection.pause(paused)

    def _fail(self, failure: Error) -> None:
        self._failure = failure
        self._end()

    def _end(self) -> None:
        self._ended = True
        self._settled.set()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the reader calls

    async def _ready(self, timeout: Optional[float]) -> bool:
        """Waits until an item is there or the stream has ended; False: neither in time."""
        if self._items or self._ended:
            return True
        if self._waiter is not None:
            raise RuntimeError("a subscription has one reader at a time")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait((self._waiter,), timeout=timeout)
        finally:
            self._waiter = None
        return bool(self._items) or self._ended

    def _take(self) -> BatchOrNotice:
        item, size = self._items.popleft()
        self._bytes -= size
        if self._paused and 2 * self._bytes <= self._bound:
            self._pause(False)
        if self._credit is not None and isinstance(item, Batch):
            self._allow(len(item))
        return item

    def _allow(self, events: int) -> None:
        """Allows the server as many events again as the reader took, once that is half of what may come ahead."""
        self._taken += events
        connection = self._link.connection
        if self._credit is None or connection is None or 2 * self._taken < self._credit:
            return
        connection.send(schema.encode(0, schema.CREDIT, {"subscription": _ID, "rows": self._taken}))
        self._taken = 0

    def _finish(self) -> None:
        """Where nothing is left: raises the reason if there is one."""
        if self._failure is not None:
            raise self._failure

    async def take_all(self, timeout: Optional[float] = None) -> Optional[List[BatchOrNotice]]:
        """All batches and notices that wait, at least one; None after `timeout` seconds; an empty list at the end."""
        if not await self._ready(timeout):
            return None
        if not self._items:
            self._finish()
        return [self._take() for _ in range(len(self._items))]

    async def batches(self) -> AsyncIterator[BatchOrNotice]:
        """Batches of events as they came, and notices."""
        while True:
            if not self._items:
                await self._ready(None)
                if not self._items:
                    self._finish()
                    return
            yield self._take()

    async def __aiter__(self) -> AsyncIterator[EventOrNotice]:
        for event in self._events:
            yield event
        async for item in self.batches():
            if isinstance(item, Batch):
                self._events = iter(item.events())
                for event in self._events:
                    yield event
            else:
                yield item

    async def next(self, timeout: Optional[float] = None) -> Optional[EventOrNotice]:
        """The next event or notice; None when none came within `timeout` seconds. ClosedError at the end."""
        for event in self._events:
            return event
        if not await self._ready(timeout):
            return None
        if not self._items:
            self._finish()
            raise ClosedError("the subscription has ended")
        item = self._take()
        if not isinstance(item, Batch):
            return item
        self._events = iter(item.events())
        return next(self._events)

    # Acknowledgements

    def acknowledge(self, upto: Union[Event, Batch, Place]) -> None:
        """The reader is done with everything up to this event, batch or place, and it need not come again.

        It returns at once. The server is told, one acknowledgement at a time that stands for those before it, and told
        again on a new connection where it has not answered. `acknowledged` is how far its answers go; `drain` waits
        for the last one.
        """
        if self.durable is None:
            raise UsageError("only a durable subscription is acknowledged: subscribe(.., durable=NAME)")
        place = upto if isinstance(upto, Place) else upto.last if isinstance(upto, Batch) else upto.place
        if place is None:
            raise UsageError("the event was not delivered, so it has no place")
        if self._begun_anew and place > self._seen:
            return  # of the journal before, where this place meant something else
        self._done = max(self._done, place)
        if self._link.connection is not None:
            self._send_acknowledgement(self._link.connection)

    def _send_acknowledgement(self, connection: Connection) -> None:
        if self._acknowledging or self._done <= self.acknowledged or connection.ended.done():
            return
        self._acknowledging = connection
        place = self._done
        asked = connection.ask(schema.ACKNOWLEDGE, {
            "durable": self.durable, "root": place.root, "ordinal": place.ordinal})
        asked.add_done_callback(lambda answered: self._answered(connection, place, answered))

    def _answered(self, connection: Connection, place: Place, answered: "asyncio.Future[Reply]") -> None:
        error = None if answered.cancelled() else answered.exception()
        if connection is not self._acknowledging or connection.ended.done():
            return  # the next connection sends it again
        self._acknowledging = None
        if isinstance(error, Error):
            self._fail(error)
            return
        self.acknowledged = max(self.acknowledged, place)
        self._settled.set()
        self._send_acknowledgement(connection)

    async def _settle(self) -> None:
        """Waits until the server has answered the last acknowledgement."""
        while self.acknowledged < self._done and not self._ended:
            self._settled.clear()
            await self._settled.wait()

    def metrics(self) -> Dict[str, int]:
        """events received and told as lost, reconnections, bytes that wait, and how often reading paused for them."""
        return {"received": self._received, "lost": self.lost, "reconnections": self._reconnections,
                "waiting_bytes": self._bytes, "pauses": self._pauses}

    # Its end

    async def drain(self) -> None:
        """Unsubscribes. The stream ends behind the last event that matched before."""
        if self.durable is not None:
            try:
                await within(self._settle(), self._options.timeout)
            except asyncio.TimeoutError:
                await self.close(keep=True)
                raise OutcomeUnknown("the last acknowledgement has no answer", "its events may come again") from None
        connection = self._link.connection
        if not self._ended and connection is not None and not connection.ended.done():
            asked = connection.ask(schema.UNSUBSCRIBE, {"subscription": _ID}, lambda reply: self._end())
            self._leave_room()
            try:
                await within(asked, self._options.timeout)
            except (asyncio.TimeoutError, Error):
                self._put(Gap("the connection was lost while the subscription ended"))
        await self.close(keep=True)

    def _leave_room(self) -> None:
        """Reads on, whatever waits: the server's answer stands behind it."""
        self._bound = float("inf")
        if self._paused:
            self._pause(False)

    async def close(self, keep: bool = False) -> None:
        """Ends at once. What has come and was not read is discarded, or kept."""
        if not keep:
            self._items.clear()
            self._events = iter(())
            self._bytes = 0
        self._end()
        await self._link.close()

    async def __aenter__(self) -> "AsyncSubscription":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

