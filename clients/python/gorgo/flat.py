"""FlatBuffers as far as the native protocol needs them, driven by the descriptions in `schema`.

A frame is written front to back: each table is followed by what it refers to, so that every offset points forward, as
the format demands. Reading checks every offset and length against the frame: bytes that are no message raise
`ProtocolError`.
"""

from __future__ import annotations

import struct
import sys
from array import array
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import ProtocolError

IDENTIFIER = b"GRGO"
PREFIX = 4
LITTLE = sys.byteorder == "little"

_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_U16 = struct.Struct("<H")

SIZES = {"B": 1, "H": 2, "I": 4, "Q": 8, "q": 8, "d": 8}

Values = Mapping[str, Any]
Scalars = Union[bytes, bytearray, memoryview, "array[Any]"]


class Kind:
    """What a field holds. `code` is the struct code of its place in the table; offsets are 32 bits."""

    code = "I"


class Scalar(Kind):
    def __init__(self, code: str, default: Any = 0) -> None:
        self.code = code
        self.default = default


class Text(Kind):
    pass


class Vector(Kind):
    """Of scalars: a memoryview when read, a bytes-like object of the elements when written."""

    def __init__(self, element: str) -> None:
        self.element = element


class Tables(Kind):
    """A vector of tables."""

    def __init__(self, of: "Table") -> None:
        self.of = of


class Child(Kind):
    def __init__(self, of: "Table") -> None:
        self.of = of


class Texts(Kind):
    """A vector of strings."""


class Field:
    def __init__(self, name: str, kind: Kind, required: bool = False) -> None:
        self.name = name
        self.kind = kind
        self.required = required


class Layout:
    """Where the fields of a table lie when these and no others are there."""

    def __init__(self, table: "Table", present: Tuple[str, ...]) -> None:
        fields = [(slot, f) for slot, f in enumerate(table.fields) if f.name in present]
        slots = [0] * (max((slot for slot, _ in fields), default=-1) + 1)
        fields.sort(key=lambda item: -SIZES[item[1].kind.code])  # the widest first: nothing needs padding
        position = 4
        self.wide = bool(fields) and SIZES[fields[0][1].kind.code] == 8
        self.scalars: List[Optional[str]] = []
        self.offsets: List[Tuple[int, Field]] = []
        for slot, f in fields:
            slots[slot] = position
            if isinstance(f.kind, Scalar):
                self.scalars.append(f.name)
            else:
                self.scalars.append(None)
                self.offsets.append((position, f))
            position += SIZES[f.kind.code]
        self.pack = struct.Struct("<i" + "".join(f.kind.code for _, f in fields)).pack
        self.vtable = struct.pack(f"<{len(slots) + 2}H", 4 + 2 * len(slots), position, *slots)


class Table:
    """The description of a table. `fields` are in the order of their slots."""

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self.fields = fields
        self.layouts: Dict[Tuple[str, ...], Layout] = {}
        self.defaults = {f.name: f.kind.default if isinstance(f.kind, Scalar) else None for f in fields}

    def layout(self, present: Tuple[str, ...]) -> Layout:
        layout = self.layouts.get(present)
        if layout is None:
            layout = self.layouts[present] = Layout(self, present)
        return layout


def align(buffer: bytearray, size: int, rest: int = 0) -> None:
    """Pads until the length is `rest` modulo `size`."""
    buffer += bytes((rest - len(buffer)) % size)


class Writer:
    """Writes one frame; positions count from its prefix."""

    def __init__(self) -> None:
        self.buffer = bytearray(12)
        self.buffer[8:12] = IDENTIFIER
        self.vtables: Dict[Layout, int] = {}

    def finish(self, table: Table, values: Values) -> bytes:
        root = self.table(table, values)
        buffer = self.buffer
        _U32.pack_into(buffer, 4, root - 4)
        _U32.pack_into(buffer, 0, len(buffer) - PREFIX)
        return bytes(buffer)

    def table(self, table: Table, values: Values) -> int:
        layout = table.layout(tuple([name for name, value in values.items() if value is not None]))
        buffer = self.buffer
        vtable = self.vtables.get(layout)
        if vtable is None:
            align(buffer, 2)
            vtable = self.vtables[layout] = len(buffer)
            buffer += layout.vtable
        if layout.wide:
            align(buffer, 8, 4)
        else:
            align(buffer, 4)
        start = len(buffer)
        buffer += layout.pack(start - vtable, *[0 if name is None else values[name] for name in layout.scalars])
        for position, f in layout.offsets:
            target = self.child(f.kind, values[f.name])
            _U32.pack_into(buffer, start + position, target - start - position)
        return start

    def child(self, kind: Kind, value: Any) -> int:
        if isinstance(kind, Text):
            return self.text(value)
        if isinstance(kind, Vector):
            return self.vector(kind.element, value)
        if isinstance(kind, Tables):
            return self.offsets([(kind.of, v) for v in value])
        if isinstance(kind, Child):
            return self.table(kind.of, value)
        of, values = value  # a union: which table it is, and its values
        return self.table(of, values)

    def text(self, value: Union[str, bytes]) -> int:
        data = value.encode() if isinstance(value, str) else value
        buffer = self.buffer
        align(buffer, 4)
        start = len(buffer)
        buffer += _U32.pack(len(data))
        buffer += data
        buffer.append(0)
        return start

    def vector(self, element: str, value: Scalars) -> int:
        view = memoryview(value).cast("B")
        size = SIZES[element]
        buffer = self.buffer
        align(buffer, max(size, 4), 4 if size == 8 else 0)
        start = len(buffer)
        buffer += _U32.pack(len(view) // size)
        if LITTLE or size == 1:
            buffer += view
        else:
            swapped = array(element, bytes(view))
            swapped.byteswap()
            buffer += swapped.tobytes()
        return start

    def offsets(self, tables: Sequence[Tuple[Table, Values]]) -> int:
        buffer = self.buffer
        align(buffer, 4)
        start = len(buffer)
        buffer += _U32.pack(len(tables)) + bytes(4 * len(tables))
        for index, (of, values) in enumerate(tables):
            place = start + 4 + 4 * index
            target = self.table(of, values)
            _U32.pack_into(buffer, place, target - place)
        return start


class Reader:
    """Reads one frame, prefix included. What it returns refers into `frame`."""

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.view = memoryview(frame)
        self.size = len(frame)
        self.tables_left = len(frame) // 8  # no builder needs fewer bytes for a table

    def fail(self, what: str) -> ProtocolError:
        return ProtocolError(f"a frame of {self.size} bytes {what}", "is this a Gorgo server of a known version?")

    def root(self) -> int:
        if self.size < 12 or self.frame[8:12] != IDENTIFIER:
            raise self.fail("is no message: the file identifier GRGO is missing")
        return self.target(4)

    def target(self, position: int) -> int:
        if position + 4 > self.size:
            raise self.fail("ends within an offset")
        target = position + int(_U32.unpack_from(self.frame, position)[0])
        if target + 4 > self.size:
            raise self.fail("has an offset that leads out of it")
        return target

    def slots(self, position: int) -> Sequence[int]:
        """The places of the fields within the table at `position`, 0 where a field is absent."""
        self.tables_left -= 1
        if self.tables_left < 0:
            raise self.fail("has more tables than fit in it")
        frame = self.frame
        vtable = position - int(_I32.unpack_from(frame, position)[0])
        if vtable < 0 or vtable + 4 > self.size:
            raise self.fail("has a table whose layout lies outside")
        size = int(_U16.unpack_from(frame, vtable)[0])
        if size < 4 or size % 2 or vtable + size > self.size:
            raise self.fail("has a table whose layout has an impossible size")
        return struct.unpack_from(f"<{size // 2 - 2}H", frame, vtable + 4)

    def table(self, table: Table, position: int) -> Dict[str, Any]:
        slots = self.slots(position)
        values = dict(table.defaults)
        for f, offset in zip(table.fields, slots):
            if offset:
                values[f.name] = self.field(f.kind, position + offset)
        for f in table.fields:
            if f.required and values[f.name] is None:
                raise self.fail(f"has a {table.name} without {f.name}")
        return values

    def field(self, kind: Kind, position: int) -> Any:
        if isinstance(kind, Scalar):
            return self.scalar(kind.code, position)
        target = self.target(position)
        if isinstance(kind, Text):
            return self.text(target)
        if isinstance(kind, Vector):
            return self.vector(kind.element, target)
        if isinstance(kind, Child):
            return self.table(kind.of, target)
        if isinstance(kind, Tables):
            return [self.table(kind.of, p) for p in self.targets(target)]
        if isinstance(kind, Texts):
            return [self.text(p) for p in self.targets(target)]
        return target  # a union, which is read once its type is known

    def scalar(self, code: str, position: int) -> Any:
        if position + SIZES[code] > self.size:
            raise self.fail("ends within a field")
        return struct.unpack_from("<" + code, self.frame, position)[0]

    def span(self, position: int, size: int) -> memoryview:
        length = int(_U32.unpack_from(self.frame, position)[0])
        end = position + 4 + length * size
        if end > self.size:
            raise self.fail("has a vector that reaches beyond it")
        return self.view[position + 4 : end]

    def text(self, position: int) -> str:
        try:
            return str(self.span(position, 1), "utf-8")
        except UnicodeDecodeError:
            raise self.fail("has a text that is not UTF-8") from None

    def vector(self, element: str, position: int) -> memoryview:
        span = self.span(position, SIZES[element])
        if LITTLE or SIZES[element] == 1:
            return span.cast(element)
        swapped = array(element, bytes(span))
        swapped.byteswap()
        return memoryview(swapped)

    def targets(self, position: int) -> List[int]:
        span = self.span(position, 4)
        if len(span) // 4 > self.tables_left:
            raise self.fail("has more tables than fit in it")
        return [self.target(position + 4 + 4 * index) for index in range(len(span) // 4)]
