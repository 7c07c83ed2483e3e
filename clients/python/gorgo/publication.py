"""Publications: what is on its way, and what became of it."""

from __future__ import annotations

import asyncio
import struct
from typing import Any, Callable, Dict, Generator, List, NamedTuple, Optional, Sequence

from .columns import Wire
from .errors import Error, Published, Refusal, Refused, TimeoutError
from .flat import Reader


class Publication:
    """A publication whose outcome may still be open. Awaiting it gives the outcome, or raises `Refused` or another Error.
    """

    __slots__ = ("published", "error", "done", "seen", "_open", "_waiters")

    def __init__(self) -> None:
        self.published = Published()
        self.error: Optional[Error] = None
        self.done = False
        self.seen = False  # somebody has been told the outcome
        self._open = 0  # pieces without an outcome, and 1 while more may come
        self._waiters: List[Callable[[], None]] = []

    def expect(self) -> None:
        self._open += 1

    def settle(self, error: Optional[Error] = None) -> None:
        """One of the expected pieces has an outcome, which `published` has got already."""
        self.error = self.error or error
        self._open -= 1
        if self._open == 0 and not self.done:
            self.done = True
            for waiter in self._waiters:
                waiter()
            self._waiters = []

    def when_done(self, waiter: Callable[[], None]) -> None:
        if self.done:
            waiter()
        else:
            self._waiters.append(waiter)

    def future(self) -> "asyncio.Future[None]":
        """Done when the publication is."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done() -> None:
            if not future.done():
                future.set_result(None)

        self.when_done(done)
        return future

    def result(self) -> Published:
        """The outcome of a publication that is done; await it or flush before."""
        if not self.done:
            raise TimeoutError("the publication has no outcome yet", "await it, or flush first")
        self.seen = True
        failure = self.failure()
        if failure is not None:
            raise failure
        return self.published

    def failure(self) -> Optional[Error]:
        if self.error is not None:
            return self.error
        return Refused(self.published) if self.published.refused else None

    def __await__(self) -> Generator[Any, None, Published]:
        if not self.done:
            yield from self.future()
        return self.result()


class Part(NamedTuple):
    """The rows of a piece that belong to one publication."""

    publication: Publication
    first: int  # row within the piece
    rows: int
    offset: int  # row of the publication that is row `first` of the piece


class Cut(NamedTuple):
    """Rows of a publication that fit in a frame."""

    batch: Wire
    rows: int
    offset: int  # of its first row in the publication


class Piece:
    """One frame. It keeps its id and its sequence number when it is sent again."""

    __slots__ = ("number", "frame", "rows", "parts", "is_numbered", "was_sent")

    def __init__(self, number: int, frame: bytes, rows: int, parts: List[Part]) -> None:
        self.number = number  # id and sequence number
        self.frame = frame
        self.rows = rows
        self.parts = parts
        self.is_numbered = False  # by the user, who relies on it
        self.was_sent = False

    def renumber(self, number: int) -> None:
        """Gives it another id and sequence number."""
        frame = bytearray(self.frame)
        reader = Reader(self.frame)
        root = reader.root()
        slots = reader.slots(root)
        struct.pack_into("<Q", frame, root + slots[0], number)
        body = reader.target(root + slots[2])
        struct.pack_into("<Q", frame, body + reader.slots(body)[1], number)
        self.number = number
        self.frame = bytes(frame)


def apply_ack(parts: Sequence[Part], rows: int, ack: Dict[str, Any]) -> None:
    """Tells the publications of a piece what the server's Ack says about their rows."""
    if ack["duplicate"]:
        for part in parts:
            part.publication.published.duplicates += part.rows
        return
    if not ack["refused"]:
        for part in parts:
            part.publication.published.accepted += part.rows
        return
    refusals = ack["refusals"] or []
    for part in parts:
        published = part.publication.published
        named = [r for r in refusals if part.first <= r["row"] < part.first + part.rows]
        refused = ack["refused"] if part.rows == rows else len(named)
        published.refused += refused
        published.accepted += part.rows - refused
        published.refusals += [Refusal(r["row"] - part.first + part.offset, r["reason"], r["hint"] or "") for r in named]
