/** Delays that double up to a bound, each with a random share, so that clients do not come back all at once. */
export class Backoff {
    /** @param {import("./options.js").Settings} settings */
    constructor(settings: import("./options.js").Settings);
    least: number;
    most: number;
    delay: number;
    /** @type {(() => void) | null} */
    wake: (() => void) | null;
    reset(): void;
    /** Resolves after the next delay, or when `wake` is called. */
    pause(): Promise<unknown>;
}
/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended and will come back. `ended` is called once, with an error that trying again does not mend.
 * @typedef {{
 *   message: (message: any) => void,
 *   up: (connection: Connection, attempts: number) => Promise<void> | void,
 *   down: (reason: GorgoError) => void,
 *   ended: (reason: GorgoError) => void,
 * }} LinkHandlers
 */
export class Link {
    /**
     * @param {import("./http.js").Http} http
     * @param {LinkHandlers} handlers
     */
    constructor(http: import("./http.js").Http, handlers: LinkHandlers);
    http: import("./http.js").Http;
    settings: import("./options.js").Settings;
    handlers: LinkHandlers;
    /** @type {Connection | null} */
    connection: Connection | null;
    /** @type {GorgoError | null} */
    failure: GorgoError | null;
    started: boolean;
    closed: boolean;
    wasUp: boolean;
    attempts: number;
    backoff: Backoff;
    /** Resolves at the first connection; rejects with the reason when there is none within the timeout. */
    open(): Promise<void>;
    /** Connects beside the caller, unless that goes on already. */
    start(): void;
    /** Connects until it succeeds. */
    recover(): Promise<void>;
    /** Returns whether there is a connection. */
    tryOnce(): Promise<boolean>;
    /**
     * Whether trying again is in vain. What the server refuses at first is, but for what passes; later its operators may
     * mend it.
     * @param {GorgoError} error
     */
    isFinal(error: GorgoError): boolean;
    /** @param {GorgoError} reason */
    finish(reason: GorgoError): void;
    connect(): Promise<void>;
    opening: Connection | undefined;
    /**
     * A WebSocket does not say why it was refused, but the answer to a request does.
     * @param {Connection} connection
     */
    opened(connection: Connection): Promise<void>;
    close(): void;
}
/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended and will come back. `ended` is called once, with an error that trying again does not mend.
 */
export type LinkHandlers = {
    message: (message: any) => void;
    up: (connection: Connection, attempts: number) => Promise<void> | void;
    down: (reason: GorgoError) => void;
    ended: (reason: GorgoError) => void;
};
import { Connection } from "./connection.js";
import { GorgoError } from "./errors.js";
