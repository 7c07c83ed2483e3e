import { GorgoError } from "./errors.js";

/**
 * @typedef {number | bigint | boolean | string} Value
 *
 * What is published. `timestamp` is in milliseconds since 1970, as a Date's; without it the server stamps the event.
 * @typedef {{type: string, attributes?: Record<string, Value>, timestamp?: number | Date}} Publishable
 *
 * Where an event stands in the one order that all subscribers see.
 * @typedef {{root: number, ordinal: number}} Place
 *
 * What a subscription yields. A notice stands wherever something may be missing.
 * @typedef {{kind: "event", type: string, attributes: Record<string, number | boolean | string>, timestamp: number,
 *   place: Place}} Event
 * @typedef {{kind: "disconnected", reason: string, code: string}} Disconnected
 * @typedef {{kind: "reconnected", seconds: number, attempts: number}} Reconnected
 * @typedef {{kind: "gap", reason: string, lost: number | null, first: Place | null, last: Place | null}} Gap
 * @typedef {{kind: "leaving", grace: number}} Leaving the server stops in so many seconds, and serves on until then
 * @typedef {{kind: "left_out", rows: number}} LeftOut so many events are not in the sample that was asked for
 * @typedef {Disconnected | Reconnected | Gap | Leaving | LeftOut} Notice
 * @typedef {{kind: "batch", events: Event[]}} Batch
 */

/** Half of a character that UTF-16 writes in two: no UTF-8 has it. */
const kHalf = /\p{Surrogate}/u;
/** From here on a number is no integer of 64 bits, and is written as a float. */
const kBeyondIntegers = 2 ** 63;
/** Milliseconds, whose nanoseconds have 64 bits. */
const kLastTime = 9_223_372_036_854;

const kShape = "an event is {type: \"..\", attributes: {..}, timestamp: ms}; the timestamp may be absent";
/** What an event may have; those that come from a subscription are published as they are. */
const kMembers = ["type", "attributes", "timestamp", "kind", "place"];
/** The members of event lines, and what is meant by them here. */
const kMeant = new Map([["attrs", "write attributes: {..}"], ["ts", "write timestamp: ms"]]);

/**
 * @param {string} message
 * @param {string} [hint]
 */
function wrong(message, hint = kShape) {
  return new GorgoError("event", message, hint);
}

/**
 * @param {string} text
 * @param {string} what
 */
function stringText(text, what) {
  if (kHalf.test(text)) {
    throw wrong(`${what} ends or begins within a character, so that it is no text`, "do not cut strings there");
  }
  return JSON.stringify(text);
}

/**
 * @param {Value} value
 * @param {string} name
 */
function valueText(value, name) {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return stringText(value, `attribute '${name}'`);
  if (typeof value !== "number") return JSON.stringify(value);
  if (!Number.isFinite(value)) return `"${value}"`;
  return Math.abs(value) < kBeyondIntegers ? JSON.stringify(value) : value.toExponential();
}

/** @param {number | Date} timestamp */
function timeText(timestamp) {
  const milliseconds = Number(timestamp);
  if (typeof timestamp === "string" || !(Math.abs(milliseconds) <= kLastTime)) {
    throw wrong(`'${String(timestamp)}' is no timestamp`, "it is a Date, or milliseconds since 1970");
  }
  return milliseconds.toString();
}

/**
 * Throws for what is no event.
 * @param {Publishable} event
 */
function check(event) {
  if (typeof event !== "object" || event === null) throw wrong(`'${String(event)}' is no event`);
  for (const name of Object.keys(event)) {
    if (!kMembers.includes(name)) throw wrong(`an event has no member '${name}'`, kMeant.get(name));
  }
  if (typeof event.type !== "string") throw wrong("the event has no type");
  const attributes = event.attributes ?? {};
  if (typeof attributes !== "object" || Symbol.iterator in attributes) {
    throw wrong("the attributes are no object with a member for each", "write {area: \"A1\"}, or Object.fromEntries(map)");
  }
}

/**
 * The event as a line of JSON. Throws a GorgoError for what is no event.
 * @param {Publishable} event
 */
export function eventText(event) {
  check(event);
  const parts = [];
  for (const [name, value] of Object.entries(event.attributes ?? {})) {
    if (value === undefined || value === null) continue;
    if (typeof value === "object" || typeof value === "function" || typeof value === "symbol") {
      throw wrong(`attribute '${name}' has no value that an event can have`, "values are numbers, bigints, booleans and strings");
    }
    parts.push(`${stringText(name, "the name of an attribute")}:${valueText(value, name)}`);
  }
  const stamp = event.timestamp === undefined || event.timestamp === null ? "" : `"ts":${timeText(event.timestamp)},`;
  return `{"type":${stringText(event.type, "the type")},${stamp}"attrs":{${parts.join(",")}}}`;
}

/**
 * @param {any} line
 * @returns {Event}
 */
export function eventOf(line) {
  return {
    kind: "event",
    type: line.type,
    attributes: line.attrs,
    timestamp: line.ts,
    place: placeOf(line.id),
  };
}

/**
 * @param {string | null | undefined} id ROOT-ORDINAL; without one, the place before all events
 * @returns {Place}
 */
export function placeOf(id) {
  const [root, ordinal] = String(id ?? "0-0").split("-");
  return { root: Number(root), ordinal: Number(ordinal) };
}

/**
 * Whether one place stands before another.
 * @param {Place} a
 * @param {Place} b
 */
export function isBefore(a, b) {
  return a.root < b.root || (a.root === b.root && a.ordinal < b.ordinal);
}
