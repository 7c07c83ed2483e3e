"""The synchronous client: the same client, whose loop runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from datetime import datetime
from types import TracebackType
from typing import Any, Coroutine, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar, Union

from .batch import Batch
from .client import AsyncClient, ack_of, as_events, check_numbered
from .errors import ClosedError, Diagnostic, Error, Published, TimeoutError
from .events import Event, Place, Publishable
from .options import Options
from .publication import Publication
from .replies import DeviceInfo, DurableInfo, RuleInfo, Trace, TypeInfo, Why
from .subscription import AsyncSubscription, BatchOrNotice, EventOrNotice

T = TypeVar("T")
Events = Union[Publishable, Iterable[Publishable]]
_Sent = Tuple[Publication, List[Event], int, Optional[int]]
_WAITING_ROWS = 8192  # of `send`, on their way to the loop's thread


class Loop:
    """An event loop in a thread. It ends with the process, if not before."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="gorgo", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine. An interrupt of the waiting thread cancels it."""
        if not self._thread.is_alive() or self.loop.is_closed():
            work.close()
            raise ClosedError("the client is closed")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()


class Subscription:
    """What `AsyncSubscription` is, for `for` loops. One thread at a time."""

    def __init__(self, loop: Loop, subscription: AsyncSubscription) -> None:
        self._loop = loop
        self._subscription = subscription
        self._items: Deque[BatchOrNotice] = deque()
        self._events: Iterator[Event] = iter(())

    @property
    def text(self) -> str:
        return self._subscription.text

    def _fetch(self, timeout: Optional[float]) -> Optional[bool]:
        """Whether there are items; None: none came in time."""
        if self._items:
            return True
        items = self._loop.run(self._subscription.take_all(timeout))
        if items is None:
            return None
        self._items.extend(items)
        return bool(items)

    def batches(self) -> Iterator[BatchOrNotice]:
        """Batches of events as they came, and notices."""
        while self._fetch(None):
            yield self._items.popleft()

    def __iter__(self) -> Iterator[EventOrNotice]:
        yield from self._events
        for item in self.batches():
            if isinstance(item, Batch):
                self._events = iter(item.events())
                yield from self._events
            else:
                yield item

    def next(self, timeout: Optional[float] = None) -> Optional[EventOrNotice]:
        """The next event or notice; None when none came within `timeout` seconds. ClosedError at the end."""
        for event in self._events:
            return event
        fetched = self._fetch(timeout)
        if fetched is None:
            return None
        if not fetched:
            raise ClosedError("the subscription has ended")
        item = self._items.popleft()
        if not isinstance(item, Batch):
            return item
        self._events = iter(item.events())
        return next(self._events)

    def acknowledge(self, upto: Union[Event, Batch, Place]) -> None:
        """The reader of a durable subscription is done with everything up to this event, batch or place.

        It returns at once; see `AsyncSubscription.acknowledge`.
        """
        async def acknowledge() -> None:
            self._subscription.acknowledge(upto)

        self._loop.run(acknowledge())

    @property
    def acknowledged(self) -> Place:
        """Up to where the server has answered that an acknowledgement survives a crash; 0-0: nowhere yet."""
        return self._subscription.acknowledged

    def metrics(self) -> Dict[str, int]:
        return self._subscription.metrics()

    def drain(self) -> None:
        """Unsubscribes. The stream ends behind the last event that matched before."""
        self._loop.run(self._subscription.drain())

    def close(self) -> None:
        """Ends at once."""
        self._items.clear()
        self._events = iter(())
        self._loop.run(self._subscription.close())

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """What `AsyncClient` is, for code without asyncio. Its methods may be called from several threads."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._loop = Loop()
        self._closed = False
        self._sending: Deque[_Sent] = deque()  # to be taken by the loop
        self._turn: Optional[asyncio.Task[None]] = None  # it takes them
        self._space = threading.Condition()
        self._rows = 0  # in `_sending`
        try:
            self._client = self._loop.run(self._open())
        except BaseException:
            self._loop.stop()
            raise

    async def _open(self) -> AsyncClient:
        client = AsyncClient(self.options)
        await client.open()
        return client

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Does the work behind everything that was sent before."""

        async def in_order() -> T:
            if self._turn is not None:
                await self._turn
            return await work

        try:
            return self._loop.run(in_order())
        except ClosedError:
            work.close()  # unless it has ended, it was never begun
            raise

    # Publishing

    def publish(self, events: Events, *, processed: bool = False, durable: bool = False,
                sequence: Optional[int] = None, timeout: Optional[float] = None) -> Published:
        """Publishes one event or several, in their order, and waits for the outcome.

        Raises Refused when the server refused some, and OutcomeUnknown when there is no outcome within `timeout`
        seconds. The other arguments are those of `AsyncClient.publish`.
        """
        return self._run(self._client.publish(events, processed=processed, durable=durable, sequence=sequence,
                                              timeout=timeout))

    def publish_columns(self, types: Mapping[str, Mapping[str, Any]], *, processed: bool = False,
                        durable: bool = False, sequence: Optional[int] = None,
                        timeout: Optional[float] = None) -> Published:
        """Publishes events by columns: {"Temp": {"area": [..], "value": [..], "timestamp": [..]}}.

        A column is a list, an array, a memoryview, or what numpy, pandas or pyarrow have. None means that a row
        lacks the attribute. Without "timestamp", nanoseconds or datetimes, the server stamps the events.
        """
        return self._run(self._client.publish_columns(types, processed=processed, durable=durable, sequence=sequence,
                                                      timeout=timeout))

    def send(self, events: Events, *, processed: bool = False, durable: bool = False,
             sequence: Optional[int] = None) -> Publication:
        """Publishes without waiting for the outcome, which the returned Publication has after a `flush`.

        It waits only while `publish_bytes` are without an outcome. `flush`, `drain` and the end of the `with` block
        raise what went wrong.
        """
        if self._closed:
            raise ClosedError("the client is closed")
        check_numbered(self.options, sequence)
        publication = Publication()
        taken = as_events(events)
        with self._space:
            if self._rows >= _WAITING_ROWS and not self._space.wait_for(
                    lambda: self._rows < _WAITING_ROWS, self.options.timeout):
                raise TimeoutError(f"{self._rows} events wait to be sent; nothing of these was",
                                   "the server does not answer, or is slower than this program")
            wake = not self._sending
            self._sending.append((publication, taken, ack_of(processed, durable), sequence))
            self._rows += len(taken)
        if wake:
            self._loop.loop.call_soon_threadsafe(self._wake)
        return publication

    def _wake(self) -> None:
        if self._turn is None or self._turn.done():
            self._turn = self._loop.loop.create_task(self._take())

    async def _take(self) -> None:
        """Hands over what was sent. It belongs to the loop's thread."""
        while self._sending:
            publication, events, ack, sequence = self._sending[0]
            try:
                await self._client.send_as(publication, events, ack, sequence)
            except Error as error:
                publication.expect()
                publication.settle(error)
            with self._space:
                self._sending.popleft()
                self._rows -= len(events)
                if 2 * self._rows < _WAITING_ROWS:
                    self._space.notify_all()

    def send_columns(self, types: Mapping[str, Mapping[str, Any]], *, processed: bool = False,
                     durable: bool = False, sequence: Optional[int] = None) -> Publication:
        """`publish_columns` without waiting, as `send`."""
        return self._run(self._client.send_columns(types, processed=processed, durable=durable, sequence=sequence))

    def flush(self, timeout: Optional[float] = None) -> Published:
        """Waits until all publications have their outcome; returns the sums of those of `send` since the last flush.

        Raises Refused when the server refused some, or the first other error.
        """
        return self._run(self._client.flush(timeout))

    # Subscribing

    def subscribe(self, text: str, *, durable: Optional[str] = None, seen: Optional[Place] = None,
                  credit: Optional[int] = None) -> Subscription:
        """Subscribes to a type and conditions: `Fire`, `Fire(measuredTemp > 50)`, `*`.

        Every event that is placed after this returns and matches will be in the stream, or a notice in its place. The
        other arguments are those of `AsyncClient.subscribe`.
        """
        subscribing = self._client.subscribe(text, durable=durable, seen=seen, credit=credit)
        return Subscription(self._loop, self._run(subscribing))

    def durables(self) -> List[DurableInfo]:
        """The durable subscriptions that this user may see."""
        return self._run(self._client.durables())

    def end_durable(self, name: str) -> None:
        """Ends a durable subscription; what waits for it is forgotten."""
        self._run(self._client.end_durable(name))

    # Rules and types

    def declare(self, type: str, attributes: Mapping[str, type]) -> None:
        """Declares an event type: `declare("Temp", {"area": str, "value": float})`."""
        self._run(self._client.declare(type, attributes))

    def check(self, name: str, text: str, *, replace: bool = False) -> List[Diagnostic]:
        """What a deployment of the text would say. Nothing is deployed."""
        return self._run(self._client.check(name, text, replace=replace))

    def deploy(self, name: str, text: str, *, replace: bool = False, with_history: bool = False) -> List[Diagnostic]:
        """Deploys the rules of a text, as a whole or not at all; returns warnings, raises InvalidText for errors."""
        return self._run(self._client.deploy(name, text, replace=replace, with_history=with_history))

    def remove(self, rule: str, *, deployment: bool = False) -> None:
        """Removes a rule by its full name, or all rules of a deployment; `deployment`: even where a rule has its name."""
        self._run(self._client.remove(rule, deployment=deployment))

    def pin(self, rule: str, engine: str = "auto") -> None:
        """Has the rule evaluated by this engine; "auto": where it costs least."""
        self._run(self._client.pin(rule, engine))

    def rules(self) -> List[RuleInfo]:
        """All rules, without their texts."""
        return self._run(self._client.rules())

    def rule(self, name: str) -> RuleInfo:
        """One rule, with its text."""
        return self._run(self._client.rule(name))

    def why(self, rule: str, *, last: int = 10, at: Union[int, datetime, None] = None) -> Why:
        """Why a rule fired or did not at its last terminators, or at the events with a timestamp."""
        return self._run(self._client.why(rule, last=last, at=at))

    def types(self) -> List[TypeInfo]:
        """The types that rules read."""
        return self._run(self._client.types())

    def devices(self) -> List[DeviceInfo]:
        return self._run(self._client.devices())

    def statistics(self) -> Dict[str, int]:
        """Numbers about the engine, by name."""
        return self._run(self._client.statistics())

    def tick(self, timestamp: Union[int, datetime]) -> None:
        """Moves the server's clock to the timestamp, behind everything published before."""
        self._run(self._client.tick(timestamp))

    def trace(self, event: Publishable) -> Trace:
        """Publishes one event and follows it through the server."""
        return self._run(self._client.trace(event))

    def metrics(self) -> Dict[str, int]:
        """Connections that came back, frames that were sent again, and what has no outcome yet."""
        return self._client.metrics()

    # The end

    def drain(self, timeout: Optional[float] = None) -> Published:
        """Finishes what is under way: unsubscribes, so that each stream ends behind its last event, waits for all
        publications, and closes. Raises what `flush` would."""
        try:
            return self._run(self._client.drain(timeout))
        finally:
            self._closed = True

    def close(self) -> None:
        """Ends at once. Publications without an outcome end with OutcomeUnknown."""
        if not self._closed:
            self._closed = True
            self._loop.run(self._client.close())
        self._loop.stop()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """Drains when the block has ended well, so that nothing that was sent is lost in silence."""
        try:
            if kind is None and not self._closed:
                self.drain()
        finally:
            self.close()
