/** @typedef {import("./events.js").Event | import("./events.js").Notice} Item */
/**
 * Yields what matches `text`, and a notice wherever something may be missing. It has a WebSocket of its own, and
 * connects and subscribes again for as long as it is not closed. It ends with an error only when the server does not
 * accept the text any more, and quietly when it was drained or closed.
 */
export class Subscription {
    /**
     * @param {string} address
     * @param {string} text
     * @param {import("./options.js").Settings} settings
     */
    constructor(address: string, text: string, settings: import("./options.js").Settings);
    text: string;
    settings: Required<import("./options.js").Options>;
    received: number;
    lost: number;
    reconnections: number;
    /** @type {Item[]} */
    items: Item[];
    head: number;
    waitingEvents: number;
    ended: boolean;
    /** @type {Error | null} */
    failure: Error | null;
    /** @type {import("./errors.js").GorgoError | null} */
    lastDown: import("./errors.js").GorgoError | null;
    downSince: number;
    /** @type {(() => void) | null} */
    wake: (() => void) | null;
    link: Link;
    /** Subscribes; rejects with InvalidText where the server finds errors in the text. */
    open(): Promise<void>;
    /**
     * @param {import("./connection.js").Connection} connection
     * @param {number} attempts
     * @returns {Promise<void>}
     */
    subscribe(connection: import("./connection.js").Connection, attempts: number): Promise<void>;
    /** @param {number} attempts */
    resumed(attempts: number): void;
    /** @param {import("./errors.js").GorgoError} reason */
    down(reason: import("./errors.js").GorgoError): void;
    /** @param {any} message */
    take(message: any): void;
    /** @param {import("./events.js").Event} event */
    takeEvent(event: import("./events.js").Event): void;
    /** @param {Item} item */
    put(item: Item): void;
    end(): void;
    /**
     * Waits until an item is there or the stream has ended; false: neither within `timeout` seconds.
     * @param {number} [timeout]
     * @returns {Promise<boolean>}
     */
    ready(timeout?: number | undefined): Promise<boolean>;
    /** @returns {Item | undefined} */
    shift(): Item | undefined;
    finish(): void;
    /**
     * The next event or notice; undefined when none came within `timeout` seconds. ClosedError at the end.
     * @param {number} [timeout]
     * @returns {Promise<Item | undefined>}
     */
    next(timeout?: number | undefined): Promise<Item | undefined>;
    /**
     * All events that wait at a time together, and notices.
     * @returns {AsyncGenerator<import("./events.js").Batch | import("./events.js").Notice, void, void>}
     */
    batches(): AsyncGenerator<import("./events.js").Batch | import("./events.js").Notice, void, void>;
    /** Numbers for a monitor. */
    metrics(): {
        received: number;
        lost: number;
        reconnections: number;
        waitingEvents: number;
    };
    /**
     * Unsubscribes. The stream ends behind the last event that matched before.
     * @returns {Promise<void>}
     */
    drain(): Promise<void>;
    /** Ends at once. What has come and was not read is discarded. */
    close(): void;
    /** @returns {AsyncGenerator<Item, void, void>} */
    [Symbol.asyncIterator](): AsyncGenerator<Item, void, void>;
}
export type Item = import("./events.js").Event | import("./events.js").Notice;
import { Link } from "./link.js";
