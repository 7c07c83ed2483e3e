/**
 * Yields what matches `text`, and a notice wherever something may be missing. It has a WebSocket of its own, and
 * connects and subscribes again for as long as it is not closed. It ends with an error only when the server does not
 * accept the text or this client any more, and quietly when it was drained or closed.
 */
export class Subscription {
    /**
     * @param {import("./http.js").Http} http
     * @param {string} text
     * @param {SubscribeOptions} [options]
     * @param {() => Promise<Record<string, any> | undefined>} [find] asks the server for the durable subscription
     */
    constructor(http: import("./http.js").Http, text: string, options?: import("./options.js").SubscribeOptions | undefined, find?: (() => Promise<Record<string, any> | undefined>) | undefined);
    text: string;
    durable: string | undefined;
    credit: number | undefined;
    most: number | undefined;
    find: () => Promise<Record<string, any> | undefined>;
    acknowledged: import("./events.js").Place;
    seen: import("./events.js").Place;
    /** @type {import("./events.js").Gap | null} */
    told: import("./events.js").Gap | null;
    finished: import("./events.js").Place;
    begunAnew: boolean;
    isAcknowledging: boolean;
    isSkipping: boolean;
    isResuming: boolean;
    wasUp: boolean;
    taken: number;
    /** @type {(() => void)[]} */
    settling: (() => void)[];
    settings: import("./options.js").Settings;
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
    /**
     * Whether the server's journal is another one, where the subscription begins anew under the same name. Then what has
     * come says nothing about the places of what will.
     */
    isAnother(): Promise<boolean>;
    /**
     * @param {import("./connection.js").Connection} connection
     * @param {number} attempts
     * @param {boolean} isAnother
     * @returns {Promise<void>}
     */
    ask(connection: import("./connection.js").Connection, attempts: number, isAnother: boolean): Promise<void>;
    /**
     * @param {number} attempts
     * @param {boolean} isAnother
     */
    resumed(attempts: number, isAnother: boolean): void;
    /** @param {import("./errors.js").GorgoError} reason */
    down(reason: import("./errors.js").GorgoError): void;
    /** @param {any} message */
    take(message: any): void;
    /**
     * A durable subscription tells on each connection of all that it has lost since the last acknowledgement.
     * @param {import("./events.js").Gap} gap
     */
    tellLost(gap: import("./events.js").Gap): void;
    /** @param {import("./events.js").Event} event */
    takeEvent(event: import("./events.js").Event): void;
    /** @param {number} rows */
    leaveOut(rows: number): void;
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
    /** Asks the server for the events that were skipped: it has all that are not acknowledged. */
    resume(): Promise<void>;
    /** Allows the server as many events again as the reader took, once that is half of what may come ahead. */
    allow(): void;
    /**
     * The reader is done with everything up to this event or place, and it need not come again. It returns at once. The
     * server is told, one acknowledgement at a time that stands for those before it, and told again on a new connection
     * where it has not answered. `acknowledged` is how far its answers go; `drain` waits for the last one.
     * @param {import("./events.js").Event | Place} upto
     */
    acknowledge(upto: import("./events.js").Event | Place): void;
    /** @param {import("./connection.js").Connection} connection */
    sendAcknowledgement(connection: import("./connection.js").Connection): void;
    /** Resolves when the server has answered the last acknowledgement, or the stream has ended. */
    settled(): Promise<void>;
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
export type Place = import("./events.js").Place;
export type SubscribeOptions = import("./options.js").SubscribeOptions;
import { Link } from "./link.js";
