"""Delivered events, in columns as they came."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from importlib import import_module
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import schema
from .errors import ProtocolError
from .events import Event, Place

_NAMES = {schema.INT: "int", schema.FLOAT: "float", schema.BOOL: "bool", schema.STRING: "string"}
_FIELDS = {schema.INT: "ints", schema.FLOAT: "floats", schema.BOOL: "bools", schema.STRING: "ends"}


def _bad(what: str) -> ProtocolError:
    return ProtocolError(f"a delivery is damaged: {what}")


class Column:
    """An attribute of the rows of a table.

    type: "int", "float", "bool" or "string".
    present: None where every row has the attribute, else a list of bools.
    """

    __slots__ = ("name", "type", "present", "_kind", "_data", "_bytes")

    def __init__(self, values: Dict[str, Any], rows: int) -> None:
        self.name: str = values["name"]
        self._kind: int = values["type"]
        if self._kind not in _NAMES:
            raise _bad(f"column '{self.name}' has the unknown type {self._kind}")
        self.type = _NAMES[self._kind]
        self._data: memoryview = values[_FIELDS[self._kind]] or memoryview(b"")
        self._bytes: memoryview = values["bytes"] or memoryview(b"")
        if len(self._data) != rows:
            raise _bad(f"column '{self.name}' has {len(self._data)} values for {rows} rows")
        self.present: Optional[List[bool]] = None
        bitmap = values["present"]
        if bitmap:
            if len(bitmap) != (rows + 7) // 8:
                raise _bad(f"the presence of column '{self.name}' has {len(bitmap)} bytes for {rows} rows")
            bits = int.from_bytes(bitmap, "little")
            self.present = [bool(bits >> row & 1) for row in range(rows)] if rows < 64 else [
                bool(bitmap[row >> 3] >> (row & 7) & 1) for row in range(rows)]

    def __len__(self) -> int:
        return len(self._data)

    @property
    def view(self) -> memoryview:
        """Ints, floats or bools as they lie in memory; what stands in rows without the attribute means nothing."""
        if self._kind == schema.STRING:
            raise TypeError("a column of strings has no view; use values()")
        return self._data.cast("B").cast("?") if self._kind == schema.BOOL else self._data

    def values(self) -> List[Any]:
        """A value for each row; what stands in rows without the attribute means nothing."""
        if self._kind == schema.STRING:
            return self._strings()
        values: List[Any] = self.view.tolist()
        return values

    def _strings(self) -> List[str]:
        ends = self._data.tolist()
        data = bytes(self._bytes)
        starts = [0, *ends[:-1]]
        if any(map(int.__gt__, starts, ends)) or (ends and ends[-1] > len(data)):
            raise _bad(f"a string of column '{self.name}' ends outside its bytes")
        try:
            text = data.decode()
            if len(text) == len(data):
                return [text[begin:end] for begin, end in zip(starts, ends)]
            return [data[begin:end].decode() for begin, end in zip(starts, ends)]
        except UnicodeDecodeError:
            raise _bad(f"a string of column '{self.name}' is not UTF-8") from None


def _column_behind(values: Dict[str, Any], rows: int, dropped: int) -> Dict[str, Any]:
    """A column of `rows` rows without its first ones."""
    rest = dict(values)
    for field in ("ints", "floats", "bools"):
        if rest[field]:
            rest[field] = rest[field][dropped:]
    if rest["ends"]:
        begin = rest["ends"][dropped - 1] if dropped else 0
        rest["bytes"] = rest["bytes"][begin:] if rest["bytes"] else None
        rest["ends"] = memoryview(array("I", [end - begin for end in rest["ends"][dropped:]]))
    if rest["present"]:
        bits = int.from_bytes(rest["present"], "little") >> dropped
        rest["present"] = bits.to_bytes((rows - dropped + 7) // 8, "little")
    return rest


def _table_behind(values: Dict[str, Any], dropped: int) -> Dict[str, Any]:
    columns = [_column_behind(column, values["rows"], dropped) for column in values["columns"] or ()]
    return {**values, "rows": values["rows"] - dropped, "timestamps": values["timestamps"][dropped:], "columns": columns}


def behind(deliver: Dict[str, Any], seen: Place) -> Optional[Dict[str, Any]]:
    """A delivery without the events up to a place; None: no others are left."""
    roots, ordinals = deliver["roots"] or (), deliver["ordinals"] or ()
    first = bisect_right([Place(root, ordinal) for root, ordinal in zip(roots, ordinals)], seen)
    if first == 0:
        return deliver
    if first == len(roots):
        return None
    batch = deliver["batch"]
    order = batch["order"] or [n for n, table in enumerate(batch["tables"]) for _ in range(table["rows"])]
    dropped = Counter(order[:first])
    tables = [_table_behind(table, dropped[number]) for number, table in enumerate(batch["tables"])]
    rest = {**batch, "tables": tables, "order": order[first:]}
    return {**deliver, "roots": roots[first:], "ordinals": ordinals[first:], "batch": rest}


class Table:
    """Events of one type, in columns. An attribute whose type changes from row to row has a column per type."""

    __slots__ = ("type", "rows", "timestamps", "columns")

    def __init__(self, values: Dict[str, Any]) -> None:
        self.type: str = values["type"]
        self.rows: int = values["rows"]
        self.timestamps: memoryview = values["timestamps"] or memoryview(b"")  # nanoseconds since the Unix epoch
        if len(self.timestamps) != self.rows:
            raise _bad(f"table '{self.type}' has {len(self.timestamps)} timestamps for {self.rows} rows")
        self.columns = tuple(Column(column, self.rows) for column in values["columns"] or ())

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> List[Any]:
        """The values of an attribute, None in rows without it."""
        columns = [column for column in self.columns if column.name == name]
        if not columns:
            raise KeyError(name)
        merged: List[Any] = [None] * self.rows
        for column in columns:
            values = column.values()
            if column.present is None:
                return values
            merged = [v if there else m for v, there, m in zip(values, column.present, merged)]
        return merged

    def attributes(self) -> List[Dict[str, Any]]:
        """The attributes of each row."""
        if all(column.present is None for column in self.columns):
            names = [column.name for column in self.columns]
            rows = zip(*[column.values() for column in self.columns])
            return [dict(zip(names, row)) for row in rows] if names else [{} for _ in range(self.rows)]
        dicts: List[Dict[str, Any]] = [{} for _ in range(self.rows)]
        for column in self.columns:
            name = column.name
            for attributes, value, there in zip(dicts, column.values(), column.present or [True] * self.rows):
                if there:
                    attributes[name] = value
        return dicts

    def numpy(self) -> Dict[str, Any]:
        """Arrays by name, those of numbers without a copy. Needs numpy."""
        numpy = import_module("numpy")
        arrays: Dict[str, Any] = {"timestamp": numpy.asarray(self.timestamps).view("datetime64[ns]")}
        for column in self.columns:
            if column.present is None and column.type != "string":
                arrays[column.name] = numpy.asarray(column.view)
            elif column.name not in arrays:
                arrays[column.name] = numpy.array(self[column.name], dtype=object)
        return arrays

    def pandas(self) -> Any:
        """A DataFrame. Needs pandas."""
        pandas = import_module("pandas")
        return pandas.DataFrame(self.numpy())

    def arrow(self) -> Any:
        """A pyarrow Table. Needs pyarrow."""
        pyarrow = import_module("pyarrow")
        names = list(dict.fromkeys(column.name for column in self.columns))
        stamps = pyarrow.array(self.timestamps.tolist(), pyarrow.timestamp("ns", "UTC"))
        return pyarrow.table({"timestamp": stamps, **{name: pyarrow.array(self[name]) for name in names}})


class Batch:
    """Events that were delivered together, ordered by their places.

    The columns refer to the bytes that came. So a batch takes as much memory as them while it is kept.
    """

    kind = "batch"
    __slots__ = ("tables", "size", "_order", "_roots", "_ordinals", "_rows")

    def __init__(self, deliver: Dict[str, Any], size: int) -> None:
        self.size = size  # bytes of the frame
        batch = deliver["batch"]
        self.tables: Tuple[Table, ...] = tuple(Table(table) for table in batch["tables"] or ())
        self._rows = sum(table.rows for table in self.tables)
        self._order: Sequence[int] = batch["order"] or ()
        self._roots: Sequence[int] = deliver["roots"] or ()
        self._ordinals: Sequence[int] = deliver["ordinals"] or ()
        if len(self._roots) != self._rows or len(self._ordinals) != self._rows:
            raise _bad(f"{len(self._roots)} places for {self._rows} rows")
        self._check_order()

    def _check_order(self) -> None:
        if not self._order:
            return
        counts = [0] * len(self.tables)
        for table in self._order:
            if table >= len(counts):
                raise _bad("the order names a table that is not there")
            counts[table] += 1
        if counts != [table.rows for table in self.tables]:
            raise _bad("the order does not have each row once")

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events())

    @property
    def last(self) -> Place:
        """The place of the last event."""
        return Place(self._roots[-1], self._ordinals[-1])

    def places(self) -> List[Place]:
        return [Place(root, ordinal) for root, ordinal in zip(self._roots, self._ordinals)]

    def events(self) -> List[Event]:
        """The events in the order of their places."""
        roots, ordinals = iter(self._roots), iter(self._ordinals)
        if len(self.tables) == 1 or not self._order:
            return [Event(table.type, attributes, stamp, next(roots), next(ordinals))
                    for table in self.tables
                    for attributes, stamp in zip(table.attributes(), table.timestamps)]
        rows = [zip(table.attributes(), table.timestamps) for table in self.tables]
        types = [table.type for table in self.tables]
        events: List[Event] = []
        add: Callable[[Event], None] = events.append
        for number, root, ordinal in zip(self._order, roots, ordinals):
            attributes, stamp = next(rows[number])
            add(Event(types[number], attributes, stamp, root, ordinal))
        return events
