"""Sends publications, and what must be sent again."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

from . import schema
from .columns import Columns, Wire, batch_of_events
from .connection import Connection, Reply, server_error
from .errors import Error, EventError, OutcomeUnknown, ServerError
from .events import Event
from .publication import Cut, Part, Piece, Publication, apply_ack

# The server names the first 64 refused rows of a batch. Publications that share a batch have no more rows together,
# so that each learns what became of it.
SHARED_ROWS = 64


class Publisher:
    """Numbers publications, keeps them until their outcome is known, and sends them again where it is not.

    The sequence numbers rise in the order of `outstanding`, which is that in which frames are sent on every
    connection. So the server applies each once, however often it comes.
    """

    def __init__(self, producer: int, bound: int) -> None:
        self.producer = producer
        self.bound = bound  # of the bytes of all outstanding frames
        self.bytes = 0
        self.outstanding: "Dict[int, Piece]" = {}  # by number, ascending
        self.repeated = 0  # frames that were sent again
        self._deferred: Dict[int, Piece] = {}  # outstanding; the server had no memory for them or those before
        self._together = 0  # so many of them were sent at once when the server last had room for all of those
        self._sequence = 0
        self._sent = 0  # of the outstanding pieces, on this connection and without a reply
        self._connection: Optional[Connection] = None
        self._shared: List[Tuple[Publication, Sequence[Event]]] = []
        self._shared_rows = 0
        self._shared_ack = schema.ACCEPTED
        self._scheduled = False
        self._waiters: Deque[asyncio.Future[None]] = deque()
        self._retry: Optional[asyncio.TimerHandle] = None
        self.limits = (schema.GREETING, 1)  # max_frame, max_rows of the server

    # Taking publications

    @property
    def is_full(self) -> bool:
        return self.bytes >= self.bound

    async def room(self) -> None:
        """Waits until less than `bound` is outstanding."""
        while self.is_full:
            future = asyncio.get_running_loop().create_future()
            self._waiters.append(future)
            await future

    async def idle(self) -> None:
        """Waits until every publication has its outcome."""
        self.share_out()
        while self.outstanding:
            future = asyncio.get_running_loop().create_future()
            self._waiters.append(future)
            await future

    def add(self, publication: Publication, events: Sequence[Event], ack: int = schema.ACCEPTED,
            sequence: Optional[int] = None) -> None:
        """Takes events. A few wait until the loop comes round, to share a frame with others.

        Raises EventError where one of many cannot be sent; then none is.
        """
        if sequence is not None:
            self.share_out()
            self._add_numbered(publication, self._cut_events(events, 0), ack, sequence)
            return
        if self._shared_ack != ack or self._shared_rows + len(events) > SHARED_ROWS:
            self.share_out()
        if len(events) >= SHARED_ROWS:
            self._add_cuts(publication, self._cut_events(events, 0), ack)
            return
        publication.expect()
        self._shared_ack = ack
        self._shared.append((publication, events))
        self._shared_rows += len(events)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self.share_out)

    def add_columns(self, publication: Publication, types: Sequence[Columns], ack: int = schema.ACCEPTED,
                    sequence: Optional[int] = None) -> None:
        """Takes the events of one type after the other. Raises EventError where one cannot be sent; then none is."""
        self.share_out()
        cuts: List[Cut] = []
        row = 0
        for columns in types:
            cuts += self._cut_columns(columns, 0, columns.rows, row)
            row += columns.rows
        if sequence is not None:
            self._add_numbered(publication, cuts, ack, sequence)
        else:
            self._add_cuts(publication, cuts, ack)

    def _add_numbered(self, publication: Publication, cuts: Sequence[Cut], ack: int, sequence: int) -> None:
        """Takes a publication that has to be one frame, so that it is the same one when it is repeated."""
        if not self._sequence < sequence < 1 << 63:
            raise EventError(f"the sequence number {sequence} does not follow {self._sequence}",
                             "each publication of a producer has a larger number than those before")
        if len(cuts) != 1:
            raise EventError(f"a publication with a sequence number takes one frame, and this one {len(cuts)}",
                             "publish fewer events of one type together")
        self._sequence = sequence - 1
        self._add_cuts(publication, cuts, ack)
        self.outstanding[sequence].is_numbered = True

    def _add_cuts(self, publication: Publication, cuts: Sequence[Cut], ack: int) -> None:
        publication.expect()
        for cut in cuts:
            self._queue(cut.batch, cut.rows, [Part(publication, 0, cut.rows, cut.offset)], ack)
        publication.settle()

    def share_out(self) -> None:
        """Makes a frame of the few events that wait."""
        self._scheduled = False
        shared, self._shared, self._shared_rows = self._shared, [], 0
        if not shared:
            return
        events = [event for _, few in shared for event in few]
        try:
            batch, size = batch_of_events(events)
        except EventError:
            batch, size = {}, self.limits[0]
        if len(events) > self.limits[1] or size > self.limits[0] - 256:
            for publication, few in shared:  # one of them is at fault, and only that one shall fail
                self._alone(publication, few)
            return
        parts, first = [], 0
        for publication, few in shared:
            parts.append(Part(publication, first, len(few), 0))
            first += len(few)
        self._queue(batch, len(events), parts, self._shared_ack)
        for part in parts:
            part.publication.settle()

    def _alone(self, publication: Publication, events: Sequence[Event]) -> None:
        try:
            self._add_cuts(publication, self._cut_events(events, 0), self._shared_ack)
            publication.settle()
        except Error as error:
            publication.settle(error)

    def _cut_events(self, events: Sequence[Event], row: int) -> List[Cut]:
        """As few batches as the server's limits allow. `row` is that of the first event."""
        if not events:
            return []
        max_frame, max_rows = self.limits
        if len(events) <= max_rows:
            batch, size = batch_of_events(events, row)
            if size <= max_frame - 256:
                return [Cut(batch, len(events), row)]
        if len(events) == 1:
            raise self._too_large(row)
        half = min(len(events) // 2, max_rows)
        return self._cut_events(events[:half], row) + self._cut_events(events[half:], row + half)

    def _cut_columns(self, columns: Columns, first: int, last: int, row: int) -> List[Cut]:
        """The same for rows of columns. `row` is that of the first row of all."""
        if first == last:
            return []
        max_frame, max_rows = self.limits
        if last - first <= max_rows:
            encoded = columns.cut(first, last)
            if encoded.bytes <= max_frame - 256:
                return [Cut({"tables": [encoded.table]}, last - first, row + first)]
        if last - first == 1:
            raise self._too_large(row + first)
        half = first + min((last - first) // 2, max_rows)
        return self._cut_columns(columns, first, half, row) + self._cut_columns(columns, half, last, row)

    def _too_large(self, row: int) -> EventError:
        return EventError(f"row {row} does not fit in a frame of {self.limits[0]} bytes",
                          "raise limits.max_frame of the server")

    # Sending

    def _queue(self, batch: Wire, rows: int, parts: List[Part], ack: int) -> None:
        self._sequence += 1
        frame = schema.encode(self._sequence, schema.PUBLISH, {
            "producer": self.producer, "sequence": self._sequence, "ack": ack, "batch": batch})
        for part in parts:
            part.publication.expect()
        piece = Piece(self._sequence, frame, rows, parts)
        self.outstanding[piece.number] = piece
        self.bytes += len(frame)
        if self._deferred:  # nothing overtakes what the server had no memory for, so that the turn of those comes
            self._deferred[piece.number] = piece
        else:
            self._send(piece)

    def _send(self, piece: Piece) -> None:
        if self._connection is None:
            return
        self._sent += 1
        self.repeated += piece.was_sent
        piece.was_sent = True
        self._connection.send(piece.frame)

    def connected(self, connection: Connection) -> None:
        """Sends again all that has no outcome."""
        self.limits = (connection.max_frame, connection.max_rows)
        self._connection = connection
        self._sent = 0
        self._deferred.clear()
        for piece in self.outstanding.values():
            self._send(piece)

    def disconnected(self) -> None:
        self._connection = None
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    # Outcomes

    def take(self, number: int, reply: Reply) -> None:
        """The server's reply to a piece."""
        piece = self.outstanding.get(number)
        if piece is None:
            return
        self._sent -= 1
        table, values = reply
        if table is schema.ACK:
            self._applied(piece, values)
        elif table is schema.ERROR:
            self._refused(piece, server_error(values))
        # Behind a later piece that is under way, the server would take these for applied.
        if self._sent > 0 or not self._deferred:
            return
        if self._together > 0:
            self._send_deferred()
        elif self._retry is None:
            self._retry = asyncio.get_running_loop().call_later(0.1, self._send_deferred)

    def _applied(self, piece: Piece, ack: Dict[str, Any]) -> None:
        apply_ack(piece.parts, piece.rows, ack)
        self._forget(piece, None)
        for earlier in [p for number, p in self._deferred.items() if number < piece.number]:
            self._overtaken(earlier, bool(ack["duplicate"]))

    def _overtaken(self, piece: Piece, by_duplicate: bool) -> None:
        """A later piece was applied, so the server takes this one's number for applied, too."""
        if by_duplicate:  # by a connection before this one, which may have carried this piece, too
            self._forget(piece, OutcomeUnknown("the server was short of memory while the connection was renewed"))
            return
        if piece.is_numbered:
            self._forget(piece, ServerError(
                "the server was short of memory for it, and has applied a later one", "publish it under a new number",
                "overloaded"))
            return
        del self.outstanding[piece.number], self._deferred[piece.number]
        self._sequence += 1
        piece.renumber(self._sequence)
        self.outstanding[piece.number] = self._deferred[piece.number] = piece

    def _refused(self, piece: Piece, error: ServerError) -> None:
        if error.code == "overloaded":
            self._deferred[piece.number] = piece
            self._together = 0
        elif error.code != "stopping":  # a stopping server did not carry it out: the next one gets it
            self._forget(piece, error)

    def _send_deferred(self) -> None:
        """Sends a few, then twice as many each time: what the server has no room for would only cost it time."""
        self._retry = None
        self._together = max(1, 2 * self._together)
        for number in sorted(self._deferred)[:self._together]:
            self._send(self._deferred.pop(number))

    def _forget(self, piece: Piece, error: Optional[Error]) -> None:
        del self.outstanding[piece.number]
        self._deferred.pop(piece.number, None)
        self.bytes -= len(piece.frame)
        for part in piece.parts:
            part.publication.settle(error)
        if self._waiters and 2 * self.bytes <= self.bound:
            self._wake()

    def _wake(self) -> None:
        while self._waiters:
            future = self._waiters.popleft()
            if not future.done():
                future.set_result(None)

    def give_up(self, reason: Error) -> None:
        """Ends all that is under way with an unknown outcome."""
        self.share_out()
        unknown = OutcomeUnknown(f"the publication was given up: {reason.message}", "its events may have been applied")
        for piece in list(self.outstanding.values()):
            self._forget(piece, unknown)
