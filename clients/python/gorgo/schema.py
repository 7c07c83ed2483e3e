"""The messages of the native protocol, as src/protocol/gorgo.fbs has them; a test holds the two against each other."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .flat import Child, Field, Kind, Reader, Scalar, Table, Tables, Text, Texts, Values, Vector, Writer

VERSION = 1
GREETING = 64 << 10  # no frame before the greeting is larger


def u8(name: str, default: int = 0) -> Field:
    return Field(name, Scalar("B", default))


def flag(name: str) -> Field:
    return Field(name, Scalar("B"))


def u16(name: str, default: int = 0) -> Field:
    return Field(name, Scalar("H", default))


def u32(name: str) -> Field:
    return Field(name, Scalar("I"))


def u64(name: str, default: Any = 0) -> Field:
    return Field(name, Scalar("Q", default))


def i64(name: str, default: Any = 0) -> Field:
    return Field(name, Scalar("q", default))


def f64(name: str, default: Any = 0.0) -> Field:
    return Field(name, Scalar("d", default))


def text(name: str, required: bool = False) -> Field:
    return Field(name, Text(), required)


def texts(name: str) -> Field:
    return Field(name, Texts())


def vector(name: str, element: str, required: bool = False) -> Field:
    return Field(name, Vector(element), required)


def tables(name: str, of: Table) -> Field:
    return Field(name, Tables(of))


def child(name: str, of: Table, required: bool = False) -> Field:
    return Field(name, Child(of), required)


INT, FLOAT, BOOL, STRING = range(4)  # ValueType
ACCEPTED, NONE, PROCESSED, DURABLE, ACCEPTED_AT_ONCE = range(5)  # AckMode

COLUMN = Table(
    "Column", text("name", True), u8("type"), vector("ints", "q"), vector("floats", "d"), vector("bools", "B"),
    vector("ends", "I"), vector("bytes", "B"), vector("present", "B"))
EVENT_TABLE = Table("EventTable", text("type", True), u32("rows"), vector("timestamps", "q"), tables("columns", COLUMN))
BATCH = Table("Batch", tables("tables", EVENT_TABLE), vector("order", "H"))

HELLO = Table(
    "Hello", u16("min_version"), u16("max_version"), text("client"), flag("heartbeats"), text("user"),
    text("password"), text("token"))
ATTRIBUTE_TYPE = Table("AttributeType", text("name", True), u8("type"))
DECLARE = Table("Declare", text("name", True), tables("attributes", ATTRIBUTE_TYPE))
PUBLISH = Table("Publish", u64("producer"), u64("sequence"), u8("ack"), child("batch", BATCH, True))
SUBSCRIBE = Table(
    "Subscribe", u32("subscription"), text("text", True), u8("slow"), u64("credit_rows", None),
    u64("credit_bytes", None), text("durable"))
UNSUBSCRIBE = Table("Unsubscribe", u32("subscription"))
DEPLOY = Table("Deploy", text("name", True), text("text", True), flag("replace"), flag("with_history"), flag("check"))
REMOVE = Table("Remove", text("rule", True), flag("deployment"))
PIN = Table("Pin", text("rule", True), text("engine", True))
LIST_RULES = Table("ListRules", u32("first"), text("name"))
TICK = Table("Tick", i64("timestamp"))
LIST_TYPES = Table("ListTypes", u32("first"))
LIST_DEVICES = Table("ListDevices")
ASK_WHY = Table("AskWhy", text("rule", True), u32("last"), i64("at", None))
TRACE = Table("Trace", child("batch", BATCH, True))
ASK_STATISTICS = Table("AskStatistics")
CREDIT = Table("Credit", u32("subscription"), u64("rows"), u64("bytes"))
PING = Table("Ping")
ACKNOWLEDGE = Table("Acknowledge", text("durable", True), u64("root"), u32("ordinal"))
END_DURABLE = Table("EndDurable", text("durable", True))
LIST_DURABLES = Table("ListDurables")
RELOAD = Table("Reload")

WELCOME = Table(
    "Welcome", u16("version"), text("server"), u32("max_frame"), u32("max_rows"), u32("heartbeat_ms"),
    u32("heartbeat_timeout_ms"))
PONG = Table("Pong")
REFUSAL = Table("Refusal", u32("row"), text("reason", True), text("hint"))
ACK = Table("Ack", u32("accepted"), u32("refused"), tables("refusals", REFUSAL), flag("duplicate"))
ERROR = Table("Error", u16("code", 1), text("message", True), text("hint"))
DIAGNOSTIC = Table(
    "Diagnostic", u8("severity"), text("file"), u32("line"), u32("column"), u32("length"), text("message", True),
    text("hint"), text("source_line"))
DIAGNOSTICS = Table("Diagnostics", tables("list", DIAGNOSTIC))
ENGINE_COST = Table(
    "EngineCost", text("engine", True), f64("estimate", None), f64("measured", None), f64("upkeep", None))
RULE_RATES = Table("RuleRates", f64("seconds"), f64("events"), f64("terminators"), f64("composites"))
RULE_LATENCY = Table("RuleLatency", f64("mean"), f64("longest"))
RULE_INFO = Table(
    "RuleInfo", text("name", True), text("type", True), text("engine"), text("text"), u64("terminators"),
    u64("composites"), u64("overflows"), u64("pending"), u64("skipped"), u64("bytes"), u64("declined"),
    text("declined_because"), texts("reads"), flag("automatic"), text("placed_because"), u64("moves"),
    tables("costs", ENGINE_COST), text("alarm"), flag("suspended"), u64("passed_over"), child("rates", RULE_RATES),
    tables("attributes", ATTRIBUTE_TYPE), texts("actions"), text("plan"), child("latency", RULE_LATENCY))
RULES = Table("Rules", tables("rules", RULE_INFO), u32("total"))
TYPE_INFO = Table(
    "TypeInfo", text("name", True), i64("reach"), u64("events"), u64("bytes"), u64("late"), u64("too_late"),
    tables("attributes", ATTRIBUTE_TYPE), flag("inferred"))
TYPES = Table("Types", tables("types", TYPE_INFO), u32("total"))
MISS = Table("Miss", text("event", True), text("test", True), text("found", True))
LOSS = Table("Loss", u8("kind"), text("test", True), u64("count"), child("nearest", MISS))
STEP = Table(
    "Step", u8("kind"), text("clause", True), u64("sequences"), u64("candidates"), u64("passed"), u64("left"),
    tables("losses", LOSS), child("outside", MISS))
FUNNEL = Table(
    "Funnel", text("event", True), i64("timestamp"), u8("outcome"), flag("forgotten"), tables("steps", STEP),
    u64("complete"), u64("composites"), u64("waiting"), child("nearest", MISS), u64("cut"),
    u64("number"), u64("every"))
WHY = Table(
    "Why", text("rule", True), text("terminator", True), u64("evaluated"), u64("produced"), tables("funnels", FUNNEL))
TRACED_RULE = Table("TracedRule", text("name", True), flag("reads"), u64("terminators"), u64("composites"))
TRACED = Table(
    "Traced", i64("timestamp"), flag("held"), u64("queue"), u64("ahead"), u64("sequence"), u64("evaluate"),
    u64("deliver"), u64("copies"), tables("rules", TRACED_RULE), texts("composites"))
DEVICE_COUNTER = Table("DeviceCounter", text("name", True), u64("value"))
DEVICE_INFO = Table(
    "DeviceInfo", text("engine", True), u32("number"), text("problem"), u64("failures"), text("failure"),
    text("failed_on"), tables("counters", DEVICE_COUNTER))
DEVICES = Table("Devices", tables("devices", DEVICE_INFO))
STATISTIC = Table("Statistic", text("name", True), u64("value"), flag("gauge"))
STATISTICS = Table("Statistics", tables("list", STATISTIC))
DELIVER = Table(
    "Deliver", vector("subscriptions", "I", True), vector("from", "H"), vector("roots", "Q"),
    vector("ordinals", "I"), u64("lost"), child("batch", BATCH, True), u64("first_lost_root"), u32("first_lost_ordinal"),
    u64("last_lost_root"), u32("last_lost_ordinal"))
LEAVING = Table("Leaving", u32("grace_ms"))
DURABLE_INFO = Table(
    "DurableInfo", text("name", True), text("text", True), u64("root"), u32("ordinal"), u64("rows"), u64("bytes"),
    u64("lost"), text("who"), text("peer"))
DURABLES = Table("Durables", tables("list", DURABLE_INFO))
RELOADED = Table("Reloaded")

# The union Body: the first table has number 1.
BODY: Tuple[Table, ...] = (
    HELLO, DECLARE, PUBLISH, SUBSCRIBE, UNSUBSCRIBE, DEPLOY, REMOVE, LIST_RULES, WELCOME, ACK, ERROR, DIAGNOSTICS,
    RULES, DELIVER, TICK, LIST_TYPES, TYPES, ASK_WHY, WHY, TRACE, TRACED, LIST_DEVICES, DEVICES, PIN, ASK_STATISTICS,
    STATISTICS, CREDIT, PING, PONG, LEAVING, RELOAD, RELOADED, ACKNOWLEDGE, END_DURABLE, LIST_DURABLES, DURABLES)
_NUMBERS: Dict[Table, int] = {table: number for number, table in enumerate(BODY, 1)}

UNKNOWN = Table("Unknown")
MESSAGE = Table("Message", u64("id"), u8("body_type"), Field("body", Kind()))

ERROR_CODES: List[str] = [
    "", "malformed", "too_large", "version", "not_greeted", "unknown_message", "invalid", "not_found", "overloaded",
    "stopping", "timeout", "unauthenticated", "forbidden"]
LOSS_KINDS = ["consumed", "condition", "negation", "filter", "no_value", "absence"]
STEP_KINDS = ["terminator", "state", "filter", "where", "absence"]
OUTCOMES = ["evaluated", "before_deployment", "too_deep", "too_many", "stopped", "counted"]


def encode(number: int, table: Table, values: Values) -> bytes:
    """The frame of a message whose id is `number`. A value None leaves its field out."""
    return Writer().finish(MESSAGE, {"id": number, "body_type": _NUMBERS[table], "body": (table, values)})


def decode(frame: bytes) -> Tuple[int, Table, Dict[str, Any]]:
    """The id, the kind and the values of the message in a whole frame. Vectors refer into the frame.

    A kind that this version does not know is UNKNOWN.
    """
    reader = Reader(frame)
    message = reader.table(MESSAGE, reader.root())
    number = message["body_type"]
    if not 0 < number <= len(BODY):
        return message["id"], UNKNOWN, {}
    if message["body"] is None:
        raise reader.fail("has a message without a body")
    table = BODY[number - 1]
    return message["id"], table, reader.table(table, message["body"])
