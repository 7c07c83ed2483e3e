"""The client for asyncio."""

from __future__ import annotations

import asyncio
import random
from datetime import datetime
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import schema
from .columns import Columns, batch_of_events
from .connection import Connection, Reply, answer, within
from .errors import ClosedError, ConnectError, Diagnostic, Error, EventError, InvalidText, OutcomeUnknown
from .errors import ProtocolError, Published, TimeoutError, UsageError
from .events import Event, Place, Publishable, nanoseconds, to_event
from .flat import Table
from .link import Link
from .options import Options
from .publication import Publication
from .publisher import Publisher
from .replies import DeviceInfo, DurableInfo, RuleInfo, Trace, TypeInfo, Why, to_device, to_diagnostics, to_durable
from .replies import to_rule, to_trace, to_type, to_why
from .subscription import AsyncSubscription

_VALUE_TYPES = {int: schema.INT, float: schema.FLOAT, bool: schema.BOOL, str: schema.STRING}
_TURN = 1024  # events that are sent before the loop gets a turn


def ack_of(processed: bool, durable: bool) -> int:
    """What the server is to wait for with its answer."""
    if processed and durable:
        raise UsageError("an outcome comes either when the composites are on their way or when the events are durable")
    return schema.DURABLE if durable else schema.PROCESSED if processed else schema.ACCEPTED


def check_numbered(options: Options, sequence: Optional[int]) -> None:
    """Numbers of a random producer are unknown to the server, but those of a named one may begin anew."""
    if options.producer != 0 and sequence is None:
        raise EventError("a producer is named, and the publication names no sequence number",
                         "name one above all numbers of this producer, which the server would take for repetitions, "
                         "or leave out the producer")


def as_events(events: Union[Publishable, Iterable[Publishable]]) -> List[Event]:
    if isinstance(events, Iterable) and not isinstance(events, (Mapping, str, bytes)):
        return [to_event(event) for event in events]
    return [to_event(events)]


class AsyncClient:
    """A client of one server. It belongs to one event loop.

    It keeps a connection for publications and requests, and one for each subscription, so that a slow reader holds up
    nothing else. Lost connections come back by themselves.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._publisher = Publisher(options.producer or random.getrandbits(63) + 1, options.publish_bytes)
        self._link = Link(options, lambda values, size: None, self._publisher.take, self._up, self._down,
                          self._publisher.give_up)
        self._subscriptions: List[AsyncSubscription] = []
        self._unseen: List[Publication] = []  # of `send`: failed, and nobody was told
        self._sent = Published()  # the outcomes of `send` since the last flush
        self._turn = 0
        self._reconnections = -1
        self._closed = False

    async def open(self) -> None:
        """Connects; raises an Error when that does not succeed within the timeout."""
        self._link.start()
        try:
            await self._link.up(self.options.timeout)
        except BaseException:
            await self.close()
            raise

    async def _up(self, connection: Connection, attempts: int) -> None:
        self._reconnections += 1
        self._publisher.connected(connection)

    def _down(self, reason: Error) -> None:
        self._publisher.disconnected()

    # Publishing

    async def publish(self, events: Union[Publishable, Iterable[Publishable]], *, processed: bool = False,
                      durable: bool = False, sequence: Optional[int] = None,
                      timeout: Optional[float] = None) -> Published:
        """Publishes one event or several, in their order, and waits for the outcome.

        Raises Refused when the server refused some, and OutcomeUnknown when there is no outcome within `timeout`
        seconds. processed: the outcome comes when the composites are on their way. durable: it comes when the events
        survive a crash, for which the server needs a journal.

        sequence: numbers the publication, which must fit in a frame. Each has a larger one than those before. With
        the option `producer` of `connect`, the same events may be published again under their number after a crash of
        this program, too: what the server has applied is counted in `duplicates`. With that option each publication
        names a `sequence`.
        """
        publication = await self._publish(events, ack_of(processed, durable), timeout, sequence)
        return await self._outcome(publication, timeout)

    async def publish_columns(self, types: Mapping[str, Mapping[str, Any]], *, processed: bool = False,
                              durable: bool = False, sequence: Optional[int] = None,
                              timeout: Optional[float] = None) -> Published:
        """Publishes events by columns: {"Temp": {"area": [..], "value": [..], "timestamp": [..]}}.

        A column is a list, an array, a memoryview, or what numpy, pandas or pyarrow have. None means that a row
        lacks the attribute. Without "timestamp", nanoseconds or datetimes, the server stamps the events. The rest is
        as with `publish`.
        """
        publication = await self._publish_columns(types, ack_of(processed, durable), timeout, sequence)
        return await self._outcome(publication, timeout)

    async def send(self, events: Union[Publishable, Iterable[Publishable]], *, processed: bool = False,
                   durable: bool = False, sequence: Optional[int] = None) -> Publication:
        """Publishes without waiting for the outcome, which the returned Publication has when it is awaited.

        It waits only while `publish_bytes` are without an outcome. `flush` and `drain` raise what went wrong with
        those whose outcome nobody awaited.
        """
        check_numbered(self.options, sequence)
        publication = Publication()
        await self.send_as(publication, as_events(events), ack_of(processed, durable), sequence)
        return publication

    async def send_as(self, publication: Publication, events: Sequence[Event], ack: int,
                      sequence: Optional[int]) -> None:
        """`send`, with a publication of the caller's, whose number was checked."""
        self._watch(publication)
        await self._room(None)
        self._publisher.add(publication, events, ack, sequence)
        self._turn += 1
        if self._turn >= _TURN:
            self._turn = 0
            await asyncio.sleep(0)

    async def send_columns(self, types: Mapping[str, Mapping[str, Any]], *, processed: bool = False,
                           durable: bool = False, sequence: Optional[int] = None) -> Publication:
        """`publish_columns` without waiting, as `send`."""
        publication = await self._publish_columns(types, ack_of(processed, durable), None, sequence)
        self._watch(publication)
        await asyncio.sleep(0)
        return publication

    async def flush(self, timeout: Optional[float] = None) -> Published:
        """Waits until all publications have their outcome; returns the sums of those of `send` since the last flush.

        Raises Refused when the server refused some whose outcome nobody awaited, or the first other error.
        """
        timeout = self.options.timeout if timeout is None else timeout
        try:
            await within(self._publisher.idle(), timeout)
        except asyncio.TimeoutError:
            raise OutcomeUnknown(f"{len(self._publisher.outstanding)} batches have no outcome after {timeout:g} s",
                                 self._why_down()) from None
        return self.settle_sent()

    def settle_sent(self) -> Published:
        """The sums for `flush`."""
        sent, self._sent = self._sent, Published()
        unseen, self._unseen = [p for p in self._unseen if not p.seen], []
        for publication in unseen:
            publication.result()
        return sent

    async def _room(self, timeout: Optional[float]) -> None:
        if self._closed:
            raise ClosedError("the client is closed")
        if self._link.ended is not None:
            raise self._link.ended
        if not self._publisher.is_full:
            return
        timeout = self.options.timeout if timeout is None else timeout
        try:
            await within(self._publisher.room(), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{self._publisher.bytes} bytes of publications have no outcome for {timeout:g} s; "
                               "nothing of this one was sent", self._why_down()) from None

    async def _publish(self, events: Union[Publishable, Iterable[Publishable]], ack: int, timeout: Optional[float],
                       sequence: Optional[int]) -> Publication:
        check_numbered(self.options, sequence)
        await self._room(timeout)
        publication = Publication()
        self._publisher.add(publication, as_events(events), ack, sequence)
        return publication

    async def _publish_columns(self, types: Mapping[str, Mapping[str, Any]], ack: int, timeout: Optional[float],
                               sequence: Optional[int]) -> Publication:
        check_numbered(self.options, sequence)
        if not isinstance(types, Mapping):
            raise EventError("no mapping of types to their columns", 'write {"Temp": {"area": ["A1", "A2"]}}')
        columns = [Columns(name, of) for name, of in types.items()]
        await self._room(timeout)
        publication = Publication()
        self._publisher.add_columns(publication, columns, ack, sequence)
        return publication

    async def _outcome(self, publication: Publication, timeout: Optional[float]) -> Published:
        if not publication.done:
            timeout = self.options.timeout if timeout is None else timeout
            await asyncio.wait((publication.future(),), timeout=timeout)
            if not publication.done:
                self._watch(publication)
                raise OutcomeUnknown(f"the publication has no outcome after {timeout:g} s", self._why_down())
        return publication.result()

    def _watch(self, publication: Publication) -> None:
        """Keeps account of a publication that nobody may wait for."""

        def done() -> None:
            sent, published = self._sent, publication.published
            sent.accepted += published.accepted
            sent.refused += published.refused
            sent.duplicates += published.duplicates
            failed = publication.error is not None or published.refused > 0
            if failed and len(self._unseen) < 1000:
                sent.refusals += published.refusals
                self._unseen.append(publication)

        publication.when_done(done)

    def _why_down(self) -> str:
        connection = self._link.connection
        if connection is not None and not connection.ended.done():
            return "the server is connected, but does not answer"
        return f"there is no connection: {self._link.failure}"

    # Subscribing

    async def subscribe(self, text: str, *, durable: Optional[str] = None, seen: Optional[Place] = None,
                        credit: Optional[int] = None) -> AsyncSubscription:
        """Subscribes to a type and conditions: `Fire`, `Fire(measuredTemp > 50)`, `*`.

        Every event that is placed after this returns and matches will be in the stream, or a notice in its place.

        durable: the name of a durable subscription, which the server keeps until `end_durable`. It goes on behind the
        last event that was acknowledged (`AsyncSubscription.acknowledge`), and leaves out what comes a second time.
        seen: the place of the last event that an earlier run of the program has dealt with; those up to it are left out.
        credit: so many events may be on their way, or wait for the reader; the server keeps the others.
        """
        if self._closed:
            raise ClosedError("the client is closed")
        subscription = AsyncSubscription(text, self.options, durable, seen, credit)
        self._subscriptions.append(subscription)
        await subscription.open()
        return subscription

    async def durables(self) -> List[DurableInfo]:
        """The durable subscriptions that this user may see."""
        _, values = await self._ask(schema.LIST_DURABLES, {}, repeatable=True)
        return [to_durable(v) for v in values["list"] or ()]

    async def end_durable(self, name: str) -> None:
        """Ends a durable subscription; what waits for it is forgotten."""
        await self._ask(schema.END_DURABLE, {"durable": name})

    # Rules and types

    async def _ask(self, table: Table, values: Dict[str, Any], repeatable: bool = False) -> Reply:
        """A reply that is no error. A question is asked again on a new connection; what changes something is not."""
        if self._closed:
            raise ClosedError("the client is closed")
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.options.timeout
        while True:
            connection = await self._link.up(deadline - loop.time())
            self._publisher.share_out()  # requests are carried out in the order of the calls
            try:
                return await answer(connection.ask(table, values), deadline - loop.time())
            except (ConnectError, ProtocolError) as error:
                if not repeatable:
                    raise OutcomeUnknown(f"the connection was lost before the answer came: {error.message}",
                                         "look at the state of the server before you try again") from None

    async def declare(self, type: str, attributes: Mapping[str, type]) -> None:
        """Declares an event type: `declare("Temp", {"area": str, "value": float})`."""
        for name, of in attributes.items():
            if of not in _VALUE_TYPES:
                raise UsageError(f"attribute '{name}': {of!r} is no type of values", "types are int, float, bool and str")
        wire = [{"name": name, "type": _VALUE_TYPES[of]} for name, of in attributes.items()]
        await self._ask(schema.DECLARE, {"name": type, "attributes": wire}, repeatable=True)

    async def check(self, name: str, text: str, *, replace: bool = False) -> List[Diagnostic]:
        """What a deployment of the text would say. Nothing is deployed."""
        _, values = await self._ask(schema.DEPLOY, {
            "name": name, "text": text, "replace": replace, "check": True}, repeatable=True)
        return to_diagnostics(values)

    async def deploy(self, name: str, text: str, *, replace: bool = False,
                     with_history: bool = False) -> List[Diagnostic]:
        """Deploys the rules of a text, as a whole or not at all; returns warnings, raises InvalidText for errors."""
        _, values = await self._ask(schema.DEPLOY, {
            "name": name, "text": text, "replace": replace, "with_history": with_history})
        diagnostics = to_diagnostics(values)
        if any(d.severity == "error" for d in diagnostics):
            raise InvalidText(diagnostics)
        return diagnostics

    async def remove(self, rule: str, *, deployment: bool = False) -> None:
        """Removes a rule by its full name, or all rules of a deployment; `deployment`: even where a rule has its name."""
        await self._ask(schema.REMOVE, {"rule": rule, "deployment": deployment})

    async def pin(self, rule: str, engine: str = "auto") -> None:
        """Has the rule evaluated by this engine; "auto": where it costs least."""
        await self._ask(schema.PIN, {"rule": rule, "engine": engine}, repeatable=True)

    async def rules(self) -> List[RuleInfo]:
        """All rules, without their texts."""
        return [to_rule(v) for v in await self._pages(schema.LIST_RULES, "rules")]

    async def rule(self, name: str) -> RuleInfo:
        """One rule, with its text."""
        _, values = await self._ask(schema.LIST_RULES, {"name": name}, repeatable=True)
        return to_rule(values["rules"][0])

    async def why(self, rule: str, *, last: int = 10, at: Union[int, datetime, None] = None) -> Why:
        """Why a rule fired or did not at its last terminators, or at the events with a timestamp."""
        stamp = None if at is None else nanoseconds(at)
        _, values = await self._ask(schema.ASK_WHY, {"rule": rule, "last": last, "at": stamp}, repeatable=True)
        return to_why(values)

    async def types(self) -> List[TypeInfo]:
        """The types that rules read."""
        return [to_type(v) for v in await self._pages(schema.LIST_TYPES, "types")]

    async def devices(self) -> List[DeviceInfo]:
        _, values = await self._ask(schema.LIST_DEVICES, {}, repeatable=True)
        return [to_device(v) for v in values["devices"] or ()]

    async def statistics(self) -> Dict[str, int]:
        """Numbers about the engine, by name."""
        _, values = await self._ask(schema.ASK_STATISTICS, {}, repeatable=True)
        return {s["name"]: s["value"] for s in values["list"] or ()}

    async def tick(self, timestamp: Union[int, datetime]) -> None:
        """Moves the server's clock to the timestamp, behind everything published before."""
        await self._ask(schema.TICK, {"timestamp": nanoseconds(timestamp)}, repeatable=True)

    async def trace(self, event: Publishable) -> Trace:
        """Publishes one event and follows it through the server."""
        batch, _ = batch_of_events([to_event(event)])
        _, values = await self._ask(schema.TRACE, {"batch": batch})
        return to_trace(values)

    async def _pages(self, table: Table, key: str) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []
        while True:
            _, values = await self._ask(table, {"first": len(found)}, repeatable=True)
            page: Sequence[Dict[str, Any]] = values[key] or ()
            found += page
            if not page or len(found) >= values["total"]:
                return found

    def metrics(self) -> Dict[str, int]:
        """Connections that came back, frames that were sent again, and what has no outcome yet."""
        return {"reconnections": max(0, self._reconnections), "repeated": self._publisher.repeated,
                "outstanding_batches": len(self._publisher.outstanding), "outstanding_bytes": self._publisher.bytes}

    # The end

    async def drain(self, timeout: Optional[float] = None) -> Published:
        """Finishes what is under way: unsubscribes, so that each stream ends behind its last event, waits for all
        publications, and closes. Raises what `flush` would."""
        try:
            await asyncio.gather(*[subscription.drain() for subscription in self._subscriptions])
            return await self.flush(timeout)
        finally:
            await self._close(keep=True)

    async def close(self) -> None:
        """Ends at once. Publications without an outcome end with OutcomeUnknown."""
        await self._close(keep=False)

    async def _close(self, keep: bool) -> None:
        self._closed = True
        await asyncio.gather(*[subscription.close(keep=keep) for subscription in self._subscriptions])
        self._publisher.give_up(ClosedError("the client was closed"))
        await self._link.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        """Drains when the block has ended well, so that nothing that was sent is lost in silence."""
        if kind is None and not self._closed:
            await self.drain()
        else:
            await self.close()
