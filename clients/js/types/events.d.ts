/**
 * The event as a line of JSON. Throws a GorgoError for what is no event.
 * @param {Publishable} event
 */
export function eventText(event: Publishable): string;
/**
 * @param {any} line
 * @returns {Event}
 */
export function eventOf(line: any): Event;
/**
 * @param {string | null | undefined} id ROOT-ORDINAL; without one, the place before all events
 * @returns {Place}
 */
export function placeOf(id: string | null | undefined): Place;
/**
 * Whether one place stands before another.
 * @param {Place} a
 * @param {Place} b
 */
export function isBefore(a: Place, b: Place): boolean;
/**
 * What is published. `timestamp` is in milliseconds since 1970, as a Date's; without it the server stamps the event.
 */
export type Value = number | bigint | boolean | string;
/**
 * Where an event stands in the one order that all subscribers see.
 */
export type Publishable = {
    type: string;
    attributes?: Record<string, Value>;
    timestamp?: number | Date;
};
/**
 * What a subscription yields. A notice stands wherever something may be missing.
 */
export type Place = {
    root: number;
    ordinal: number;
};
export type Event = {
    kind: "event";
    type: string;
    attributes: Record<string, number | boolean | string>;
    timestamp: number;
    place: Place;
};
export type Disconnected = {
    kind: "disconnected";
    reason: string;
    code: string;
};
export type Reconnected = {
    kind: "reconnected";
    seconds: number;
    attempts: number;
};
export type Gap = {
    kind: "gap";
    reason: string;
    lost: number | null;
    first: Place | null;
    last: Place | null;
};
/**
 * the server stops in so many seconds, and serves on until then
 */
export type Leaving = {
    kind: "leaving";
    grace: number;
};
/**
 * so many events are not in the sample that was asked for
 */
export type LeftOut = {
    kind: "left_out";
    rows: number;
};
export type Notice = Disconnected | Reconnected | Gap | Leaving | LeftOut;
export type Batch = {
    kind: "batch";
    events: Event[];
};
