"""What the server tells about rules, types and devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from . import schema
from .errors import Diagnostic
from .events import Place

Values = Dict[str, Any]


def _name(names: List[str], number: int) -> str:
    """Of an enumeration that later versions may extend."""
    return names[number] if number < len(names) else f"kind_{number}"


def to_diagnostics(values: Values) -> List[Diagnostic]:
    return [Diagnostic("warning" if d["severity"] == 1 else "error", d["message"], d["hint"] or "", d["file"] or "",
                       d["line"], d["column"], d["length"], d["source_line"] or "") for d in values["list"] or ()]


@dataclass(frozen=True)
class EngineCost:
    """Nanoseconds for each terminator; None where it is not known."""

    engine: str
    estimate: Optional[float]
    measured: Optional[float]
    upkeep: Optional[float]


@dataclass(frozen=True)
class RuleRates:
    """What a rule had to do in a second, on average over the last `seconds`."""

    seconds: float
    events: float
    terminators: float
    composites: float


@dataclass(frozen=True)
class RuleLatency:
    """How long composites of late took from reading the publication that completes them, in seconds."""

    mean: float
    longest: float


@dataclass(frozen=True)
class RuleInfo:
    name: str
    type: str
    engine: str
    text: str  # empty in lists
    reads: List[str]
    automatic: bool  # the engine follows what it costs
    placed_because: str
    terminators: int
    composites: int
    overflows: int
    pending: int  # composites that wait for a deadline
    skipped: int  # instants of its timer that were too many for one gap
    bytes: int
    declined: int  # terminators that its engine left to column-scan
    declined_because: str
    moves: int
    suspended: bool
    passed_over: int
    alarm: str  # that two engines gave different composites
    costs: List[EngineCost]
    rates: Optional[RuleRates]
    latency: Optional[RuleLatency]  # None: it has produced nothing of late
    actions: List[str]  # what it executes: 'webhook("ops")'
    plan: str  # how it is evaluated, in words; empty in lists
    attributes: Dict[str, str]  # of its composites: name -> "int", "float", "bool" or "str"


@dataclass(frozen=True)
class TypeInfo:
    """A type that rules read. One without a name stands for all others together; it has only `late`, `too_late`."""

    name: str
    reach: int  # nanoseconds behind the clock that its events are kept
    events: int
    bytes: int
    late: int
    too_late: int
    attributes: Dict[str, str]  # name -> "int", "float", "bool" or "str"
    inferred: bool  # from the rules: events may lack attributes and have others


@dataclass(frozen=True)
class Miss:
    """Why one event or sequence went no further."""

    event: str
    test: str
    found: str


@dataclass(frozen=True)
class Loss:
    """Candidates or sequences that failed `test` first."""

    kind: str
    test: str
    count: int
    nearest: Optional[Miss]


@dataclass(frozen=True)
class Step:
    kind: str
    clause: str
    sequences: int
    candidates: int
    passed: int
    left: int
    losses: List[Loss]
    outside: Optional[Miss]


@dataclass(frozen=True)
class Funnel:
    """What became of one terminator, step by step."""

    event: str
    timestamp: int
    outcome: str
    forgotten: bool
    steps: List[Step]
    complete: int
    composites: int
    waiting: int
    nearest: Optional[Miss]
    cut: int
    number: int
    every: int


@dataclass(frozen=True)
class Why:
    rule: str
    terminator: str
    evaluated: int
    produced: int
    funnels: List[Funnel]


@dataclass(frozen=True)
class DeviceInfo:
    engine: str
    number: int
    problem: str
    failures: int
    failure: str
    failed_on: str
    counters: Dict[str, int]


@dataclass(frozen=True)
class TracedRule:
    name: str
    reads: bool
    terminators: int
    composites: int


@dataclass(frozen=True)
class Trace:
    """How an event passed through the server. Times are nanoseconds."""

    timestamp: int
    held: bool
    queue: int
    ahead: int
    sequence: int
    evaluate: int
    deliver: int
    copies: int
    rules: List[TracedRule]
    composites: List[str]


@dataclass(frozen=True)
class DurableInfo:
    """A durable subscription, and what waits for it."""

    name: str
    text: str
    acknowledged: Place  # 0-0: nothing is
    rows: int  # events that wait for their acknowledgement
    bytes: int
    lost: int  # events that were dropped because too much waited
    who: str  # the user who has it
    peer: str  # the connection that has it now; empty: none


def to_durable(values: Values) -> DurableInfo:
    return DurableInfo(values["name"], values["text"], Place(values["root"], values["ordinal"]), values["rows"],
                       values["bytes"], values["lost"], values["who"] or "", values["peer"] or "")


def _attributes(values: Values) -> Dict[str, str]:
    return {a["name"]: _name(["int", "float", "bool", "str"], a["type"]) for a in values["attributes"] or ()}


def to_rule(values: Values) -> RuleInfo:
    plain = {f: values[f] if values[f] is not None else "" for f in RuleInfo.__dataclass_fields__
             if f not in ("reads", "automatic", "suspended", "costs", "rates", "latency", "actions", "attributes")}
    return RuleInfo(**plain, reads=values["reads"] or [], actions=values["actions"] or [], automatic=bool(values["automatic"]),
                    suspended=bool(values["suspended"]), costs=[EngineCost(**c) for c in values["costs"] or ()],
                    rates=RuleRates(**values["rates"]) if values["rates"] else None,
                    latency=RuleLatency(**values["latency"]) if values["latency"] else None,
                    attributes=_attributes(values))


def to_type(values: Values) -> TypeInfo:
    plain = {f: values[f] for f in TypeInfo.__dataclass_fields__ if f not in ("attributes", "inferred")}
    return TypeInfo(**plain, attributes=_attributes(values), inferred=bool(values["inferred"]))


def _miss(values: Optional[Values]) -> Optional[Miss]:
    return Miss(**values) if values else None


def _loss(values: Values) -> Loss:
    return Loss(_name(schema.LOSS_KINDS, values["kind"]), values["test"], values["count"], _miss(values["nearest"]))


def _step(values: Values) -> Step:
    return Step(_name(schema.STEP_KINDS, values["kind"]), values["clause"], values["sequences"], values["candidates"],
                values["passed"], values["left"], [_loss(v) for v in values["losses"] or ()], _miss(values["outside"]))


def _funnel(values: Values) -> Funnel:
    return Funnel(values["event"], values["timestamp"], _name(schema.OUTCOMES, values["outcome"]),
                  bool(values["forgotten"]), [_step(v) for v in values["steps"] or ()], values["complete"],
                  values["composites"], values["waiting"], _miss(values["nearest"]), values["cut"],
                  values["number"], values["every"])


def to_why(values: Values) -> Why:
    return Why(values["rule"], values["terminator"], values["evaluated"], values["produced"],
               [_funnel(v) for v in values["funnels"] or ()])


def to_device(values: Values) -> DeviceInfo:
    return DeviceInfo(values["engine"], values["number"], values["problem"] or "", values["failures"],
                      values["failure"] or "", values["failed_on"] or "",
                      {c["name"]: c["value"] for c in values["counters"] or ()})


def to_trace(values: Values) -> Trace:
    rules = [TracedRule(r["name"], bool(r["reads"]), r["terminators"], r["composites"]) for r in values["rules"] or ()]
    plain = {f: values[f] for f in Trace.__dataclass_fields__ if f not in ("held", "rules", "composites")}
    return Trace(**plain, held=bool(values["held"]), rules=rules, composites=values["composites"] or [])
