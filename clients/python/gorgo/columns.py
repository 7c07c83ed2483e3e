"""From Python values to the columns of the protocol."""

from __future__ import annotations

from array import array
from datetime import datetime
from sys import maxsize
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import schema
from .errors import EventError
from .events import Event, nanoseconds

_KINDS = {int: schema.INT, float: schema.FLOAT, bool: schema.BOOL, str: schema.STRING}
_FIELDS = ("ints", "floats", "bools")
_CODES = ("q", "d", "B")
_ZEROS: Tuple[Any, ...] = (0, 0.0, False, "")
_INTS = frozenset("bBhHiIlLqQnN")
_FLOATS = frozenset("efd")

_NAME_BYTES = 1024  # of the name of a type or an attribute, as the server takes it
_MOST_COLUMNS = 4096  # of a table

Wire = Dict[str, Any]


class Encoded(NamedTuple):
    """A table of events as the encoder takes it, and about how many bytes it has."""

    table: Wire
    bytes: int


def _check_name(name: Any, what: str, row: int) -> None:
    """Raises EventError for what the server does not take for a name, which would cost the events beside it, too."""
    try:
        size = len(name.encode()) if isinstance(name, str) else 0
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= _NAME_BYTES:
        shown = repr(name) if len(repr(name)) < 60 else f"{repr(name)[:60]}.."
        raise EventError(f"from row {row} on, {shown} is no name of {what}", "names are str, of 1 to 1024 bytes in UTF-8")


def _check_type(name: Any, row: int) -> None:
    _check_name(name, "a type", row)
    if name == "*":
        raise EventError(f"from row {row} on, the type is '*', which stands for all types", "name one")


def kind_of(value: Any, name: str, row: int) -> int:
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    for base in (bool, int, float, str):  # a bool is an int, too
        if isinstance(value, base):
            return _KINDS[base]
    if hasattr(value, "item"):  # a scalar of numpy
        return kind_of(value.item(), name, row)
    raise EventError(f"row {row}, attribute '{name}': {type(value).__name__} is no type of values",
                     "values are int, float, bool and str; leave the attribute out where there is none")


def _text_column(name: str, values: Sequence[Any], row: int) -> Wire:
    try:
        whole = "".join(values)
        data = whole.encode()
        ends = array("I")
        end = 0
        if len(data) == len(whole):
            for value in values:
                end += len(value)
                ends.append(end)
        else:
            for value in values:
                end += len(value.encode())
                ends.append(end)
    except UnicodeEncodeError as error:
        raise EventError(f"from row {row} on, attribute '{name}': a string is no Unicode text: {error.reason}",
                         "remove lone surrogates") from None
    return {"name": name, "type": schema.STRING, "ends": ends, "bytes": data}


def _column(name: str, kind: int, values: Sequence[Any], row: int) -> Wire:
    if kind == schema.STRING:
        return _text_column(name, values, row)
    try:
        return {"name": name, "type": kind, _FIELDS[kind]: array(_CODES[kind], values)}
    except OverflowError:
        raise EventError(f"from row {row} on, attribute '{name}': an int has more than 64 bits",
                         "send it as a float or a string") from None


def _bitmap(present: Sequence[bool]) -> bytes:
    bits = bytearray((len(present) + 7) // 8)
    for row, there in enumerate(present):
        if there:
            bits[row >> 3] |= 1 << (row & 7)
    return bytes(bits)


def columns_of(name: str, values: Sequence[Any], row: int = 0) -> List[Wire]:
    """The columns of one attribute, one for each type that its values have. None: the row lacks it.

    `row` is that of the first value, for errors.
    """
    _check_name(name, "an attribute", row)
    types = set(map(type, values))
    if len(types) == 1:
        kind = _KINDS.get(next(iter(types)))
        if kind is not None:
            return [_column(name, kind, values, row)]
    kinds = [None if v is None else kind_of(v, name, row + i) for i, v in enumerate(values)]
    columns = []
    for kind in sorted({k for k in kinds if k is not None}):
        zero = _ZEROS[kind]
        column = _column(name, kind, [v if k == kind else zero for v, k in zip(values, kinds)], row)
        if any(k != kind for k in kinds):
            column["present"] = _bitmap([k == kind for k in kinds])
        columns.append(column)
    return columns


def _size(columns: Iterable[Wire], rows: int) -> int:
    size = 8 * rows
    for column in columns:
        size += 100 + len(column["name"]) + rows // 8
        size += 4 * rows + len(column["bytes"]) if column["type"] == schema.STRING else 8 * rows
    return size


def _encoded(type_name: str, rows: int, stamps: Any, columns: List[Wire], row: int) -> Encoded:
    """Rows that have too many columns together are as good as too large, so that they are cut."""
    too_many = len(columns) > _MOST_COLUMNS
    if too_many and rows == 1:
        raise EventError(f"row {row}: an event with {len(columns)} attributes", f"it may have {_MOST_COLUMNS} at most")
    table: Wire = {"type": type_name, "rows": rows, "columns": columns}
    if stamps is not None:
        table["timestamps"] = stamps
    return Encoded(table, maxsize if too_many else 100 + len(type_name) + _size(columns, rows))


def _stamps(values: Sequence[Union[int, datetime]]) -> "array[int]":
    try:
        return array("q", values)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        pass
    try:
        return array("q", [nanoseconds(v) for v in values])
    except OverflowError:
        raise EventError("a timestamp is no number of nanoseconds since 1970 with 64 bits",
                         "timestamps are int or datetime") from None


def _are_alike(attributes: Sequence[Any], row: int) -> bool:
    """Whether all events have the same attributes."""
    try:
        names = attributes[0].keys()
        return all([a.keys() == names for a in attributes])
    except AttributeError:
        raise EventError(f"from row {row} on, attributes are no mapping of names to values",
                         'write gorgo.Event("Temp", {"area": "A1"})') from None


def _of_one_type(type_name: str, stamped: bool, events: List[Event], row: int) -> Encoded:
    _check_type(type_name, row)
    attributes = [e.attributes for e in events]
    columns: List[Wire] = []
    alike = _are_alike(attributes, row)
    if alike:
        for name in attributes[0]:
            columns += columns_of(name, [a[name] for a in attributes], row)
    else:
        for name in dict.fromkeys(name for a in attributes for name in a):
            columns += columns_of(name, [a.get(name) for a in attributes], row)
    stamps = _stamps([e.timestamp or 0 for e in events]) if stamped else None
    return _encoded(type_name, len(events), stamps, columns, row)


def batch_of_events(events: Sequence[Event], row: int = 0) -> Tuple[Wire, int]:
    """The batch of events in their order, and about how many bytes it has."""
    groups: Dict[Tuple[str, bool], List[Event]] = {}
    order = array("H")
    numbers: Dict[Tuple[str, bool], int] = {}
    for event in events:
        key = (event.type, event.timestamp is not None)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers)
            groups[key] = []
        groups[key].append(event)
        order.append(number)
    encoded = [_of_one_type(name, stamped, group, row) for (name, stamped), group in groups.items()]
    batch: Wire = {"tables": [e.table for e in encoded]}
    if len(encoded) > 1:
        batch["order"] = order
    return batch, 2 * len(events) + sum(e.bytes for e in encoded)


def _plain(values: Any, name: str) -> Any:
    """A list of Python values, or a memoryview of ints, floats or bools that needs no conversion of each value."""
    if hasattr(values, "to_pylist"):  # pyarrow
        return values.to_pylist()
    if hasattr(values, "to_numpy"):  # pandas
        values = values.to_numpy()
    if getattr(getattr(values, "dtype", None), "kind", "") == "M":  # times of numpy
        return memoryview(values.astype("datetime64[ns]").astype("int64"))
    if isinstance(values, (str, bytes)):
        raise EventError(f"column '{name}' is one text instead of a list of values", "put it into a list")
    try:
        view = memoryview(values)
        if view.ndim == 1 and view.format in _INTS | _FLOATS | {"?"}:
            return view if view.c_contiguous else view.tolist()
    except TypeError:
        pass
    if hasattr(values, "tolist"):
        return values.tolist()
    try:
        return list(values)
    except TypeError:
        raise EventError(f"column '{name}' is no list of values", "a column has a value for each row") from None


def _column_of_view(name: str, view: memoryview) -> Wire:
    code = view.format
    if code == "?":
        return {"name": name, "type": schema.BOOL, "bools": view.cast("B")}
    kind = schema.INT if code in _INTS else schema.FLOAT
    wide = _CODES[kind]
    if view.itemsize == 8 and code not in "QLN":
        return {"name": name, "type": kind, _FIELDS[kind]: view.cast("B").cast(wide)}
    try:
        return {"name": name, "type": kind, _FIELDS[kind]: array(wide, view.tolist())}
    except OverflowError:
        raise EventError(f"column '{name}': an int has more than 64 bits", "send it as floats") from None


class Columns:
    """The columns of one type, checked once and cut into tables of so many rows."""

    def __init__(self, type_name: str, columns: Mapping[str, Any]) -> None:
        _check_type(type_name, 0)
        if not isinstance(columns, Mapping):
            raise EventError(f"the columns of {type_name} are no mapping of names to values",
                             'write {"Temp": {"area": ["A1", "A2"]}}')
        self.type = type_name
        self.columns = {name: _plain(values, name) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in self.columns.items()}
        self.rows = next(iter(lengths.values()), 0)
        for name, length in lengths.items():
            if length != self.rows:
                raise EventError(f"column '{name}' of {type_name} has {length} values, another one {self.rows}",
                                 "a column has a value for each row; None where a row lacks the attribute")
        self.stamps = self.columns.pop("timestamp", None)

    def cut(self, first: int, last: int) -> Encoded:
        columns: List[Wire] = []
        for name, values in self.columns.items():
            piece = values[first:last]
            if isinstance(piece, memoryview):
                _check_name(name, "an attribute", first)
                columns.append(_column_of_view(name, piece))
            else:
                columns += columns_of(name, piece, first)
        stamps: Optional[Any] = None if self.stamps is None else self.stamps[first:last]
        if stamps is not None and not (isinstance(stamps, memoryview) and stamps.itemsize == 8):
            stamps = _stamps(stamps)
        return _encoded(self.type, last - first, stamps, columns, first)
