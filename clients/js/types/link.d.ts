/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended. InvalidText from `up` ends the link, as the reason `not_found` does: the durable subscription of
 * the connection is another's or nobody's.
 * @typedef {{
 *   message: (message: any) => void,
 *   up: (connection: Connection, attempts: number) => Promise<void> | void,
 *   down: (reason: GorgoError) => void,
 * }} LinkHandlers
 */
export class Link {
    /**
     * @param {string} address
     * @param {import("./options.js").Settings} settings
     * @param {LinkHandlers} handlers
     */
    constructor(address: string, settings: import("./options.js").Settings, handlers: LinkHandlers);
    address: string;
    settings: import("./options.js").Settings;
    handlers: LinkHandlers;
    /** @type {Connection | null} */
    connection: Connection | null;
    /** @type {GorgoError | null} */
    failure: GorgoError | null;
    closed: boolean;
    attempts: number;
    delay: number;
    /** @type {(() => void) | null} */
    wake: (() => void) | null;
    /** Resolves at the first connection; rejects with the reason when there is none within the timeout. */
    open(): Promise<void>;
    /** Connects until it succeeds. */
    recover(): Promise<void>;
    /** @param {unknown} error */
    note(error: unknown): void;
    connect(): Promise<void>;
    opening: Connection | undefined;
    /** Delays double up to a bound, each with a random share, so that clients do not come back all at once. */
    pause(): Promise<unknown>;
    close(): void;
}
/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended. InvalidText from `up` ends the link, as the reason `not_found` does: the durable subscription of
 * the connection is another's or nobody's.
 */
export type LinkHandlers = {
    message: (message: any) => void;
    up: (connection: Connection, attempts: number) => Promise<void> | void;
    down: (reason: GorgoError) => void;
};
import { Connection } from "./connection.js";
import { GorgoError } from "./errors.js";
