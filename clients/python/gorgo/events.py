"""What is published and what a subscription yields."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime, timedelta, timezone
from numbers import Number
from operator import index
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Type, TypeVar, Union

from .errors import EventError

Value = Union[int, float, bool, str]
T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Place(NamedTuple):
    """Where an event stands in the one order that all subscribers see."""

    root: int  # number of the primitive event
    ordinal: int  # rank among the events that the root brought about; 0: the root itself


class Event:
    """An event: a type, attributes, and a timestamp in nanoseconds since the Unix epoch.

    Without a timestamp, the server stamps it. A delivered event has one, and a place.
    """

    kind = "event"
    __slots__ = ("type", "attributes", "timestamp", "_root", "_ordinal")

    def __init__(self, type: str, attributes: Optional[Mapping[str, Value]] = None,
                 timestamp: Optional[int] = None, _root: Optional[int] = None, _ordinal: int = 0) -> None:
        self.type = type
        self.attributes: Mapping[str, Value] = {} if attributes is None else attributes
        self.timestamp = timestamp
        self._root = _root
        self._ordinal = _ordinal

    def __getitem__(self, name: str) -> Value:
        return self.attributes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.attributes

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    @property
    def place(self) -> Optional[Place]:
        """None for an event that was not delivered."""
        return None if self._root is None else Place(self._root, self._ordinal)

    @property
    def time(self) -> Optional[datetime]:
        """The timestamp, in UTC, to the microsecond."""
        return None if self.timestamp is None else _EPOCH + timedelta(microseconds=self.timestamp // 1000)

    def to(self, cls: Type[T]) -> T:
        """The event as an instance of a dataclass, such as those of `gorgo types --python`."""
        fields = {f.metadata.get("attribute", f.name): f.name for f in dataclasses.fields(cls)}
        values: Dict[str, Any] = {fields[name]: value for name, value in self.attributes.items() if name in fields}
        if "timestamp" in fields:
            values["timestamp"] = self.timestamp
        return cls(**values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return (self.type, self.timestamp, dict(self.attributes)) == (
            other.type, other.timestamp, dict(other.attributes))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        stamp = "" if self.timestamp is None else f", timestamp={self.timestamp}"
        return f"Event({self.type!r}, {dict(self.attributes)!r}{stamp})"


class Disconnected(NamedTuple):
    """The subscription has no connection, and tries to get one until it is closed."""

    reason: str
    code: str
    kind: str = "disconnected"


class Reconnected(NamedTuple):
    """The subscription holds again. A `Gap` follows, unless the subscription is durable."""

    seconds: float  # without a connection
    attempts: int
    kind: str = "reconnected"


class Gap(NamedTuple):
    """Events that matched did not come.

    lost: how many; None where nobody knows, as after a lost connection.
    first, last: the places of the first and the last of them, where the server says so.
    """

    reason: str
    lost: Optional[int] = None
    first: Optional[Place] = None
    last: Optional[Place] = None
    kind: str = "gap"


class Leaving(NamedTuple):
    """The server stops in `grace` seconds, and serves on until then. The subscription comes back with the next one."""

    grace: float
    kind: str = "leaving"


Notice = Union[Disconnected, Reconnected, Gap, Leaving]
Publishable = Union[Event, Mapping[str, Any], object]


def nanoseconds(time: Any) -> int:
    """A timestamp, an int, a datetime or a time of numpy, as nanoseconds since the Unix epoch. A datetime must have a time zone."""
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise EventError("a datetime without a time zone is no point in time",
                             "give it one: datetime.now(timezone.utc)")
        return ((time - _EPOCH) // timedelta(microseconds=1)) * 1000
    if getattr(getattr(time, "dtype", None), "kind", "") == "M":  # a time of numpy
        return int(time.astype("datetime64[ns]").astype("int64"))
    try:
        return index(time)
    except TypeError:
        raise EventError(f"{time!r} is no timestamp",
                         "timestamps are nanoseconds since 1970 as an int, as time.time_ns() gives them, or a datetime"
                         ) from None


def _of_text(text: str) -> int:
    """A point in time in the form of RFC 3339."""
    found = _RFC_3339.fullmatch(text)
    try:
        if found is None:
            raise ValueError(text)
        day, fraction, zone = found.groups()
        seconds = datetime.fromisoformat(day + ("+00:00" if zone in "Zz" else zone))
    except ValueError:
        raise EventError(f"'{text}' is no point in time", 'write "2026-11-29T19:22:00.5Z"') from None
    return nanoseconds(seconds) + int((fraction or "")[:9].ljust(9, "0"))


def _of_line(stamp: Any) -> int:
    """The `ts` of an event line: milliseconds since 1970, or RFC 3339."""
    if isinstance(stamp, str):
        return _of_text(stamp)
    if isinstance(stamp, datetime):
        return nanoseconds(stamp)
    try:
        if not isinstance(stamp, Number):
            raise TypeError(stamp)
        return round(stamp * 1_000_000)  # type: ignore[operator]
    except (TypeError, ValueError, OverflowError):
        raise EventError(f"\"ts\": {stamp!r} is no point in time", '"ts" is in milliseconds since 1970, or RFC 3339'
                         ) from None


def _of_mapping(values: Mapping[str, Any]) -> Event:
    """An event in the shape of an event line: {"type": .., "attrs": {..}, "ts": milliseconds or RFC 3339}."""
    unknown = set(values) - {"type", "attrs", "ts"}
    if "type" not in values or unknown:
        raise EventError(f"{dict(values)!r} is no event", 'an event is {"type": "..", "attrs": {..}}, "ts" may be absent')
    stamp = values.get("ts")
    return Event(values["type"], _copy_of(values.get("attrs") or {}), None if stamp is None else _of_line(stamp))


def _of_dataclass(value: Any) -> Event:
    attributes = {f.metadata.get("attribute", f.name): getattr(value, f.name) for f in dataclasses.fields(value)}
    stamp = attributes.pop("timestamp", None)
    present = {name: v for name, v in attributes.items() if v is not None}
    return Event(getattr(value, "__gorgo_type__", type(value).__name__), present,
                 None if stamp is None else nanoseconds(stamp))


def _copy_of(attributes: Any) -> Any:
    try:
        return dict(attributes)
    except (TypeError, ValueError):
        return attributes  # no mapping, which is told where they are encoded


def to_event(value: Publishable) -> Event:
    """Takes an Event, a mapping in the shape of an event line, or an instance of a dataclass.

    The event keeps the values of this moment, because some time may pass until it is encoded.
    """
    if isinstance(value, Event):
        return Event(value.type, _copy_of(value.attributes), value.timestamp)
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _of_dataclass(value)
    raise EventError(f"{value!r} is no event", "publish gorgo.Event(type, attributes)")


def event_type(name: str) -> Callable[[Type[T]], Type[T]]:
    """Decorates a dataclass whose instances are events of the type `name`."""

    def decorate(cls: Type[T]) -> Type[T]:
        setattr(cls, "__gorgo_type__", name)
        return cls

    return decorate
