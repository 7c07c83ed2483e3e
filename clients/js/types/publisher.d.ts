/** A publication whose outcome may still be open. */
export class Publication {
    /** @type {import("./errors.js").Published} */
    published: import("./errors.js").Published;
    /** @type {GorgoError | null} */
    error: GorgoError | null;
    done: boolean;
    seen: boolean;
    open: number;
    /** @type {(() => void)[]} */
    waiters: (() => void)[];
    /**
     * The outcome; it rejects with Refused or another GorgoError.
     * @returns {Promise<import("./errors.js").Published>}
     */
    outcome(): Promise<import("./errors.js").Published>;
    failure(): GorgoError | null;
    /** @param {() => void} waiter */
    whenDone(waiter: () => void): void;
    /**
     * One of the expected messages has an outcome.
     * @param {GorgoError | null} error
     */
    settle(error: GorgoError | null): void;
}
/**
 * Numbers publications, keeps them until their outcome is known, and sends them again where it is not. The numbers
 * rise in the order of `outstanding`, which is that in which messages are sent on every connection. So the server
 * applies each once, however often it comes.
 */
export class Publisher {
    /**
     * @param {number} bound of the characters of all outstanding messages
     * @param {number} [producer] without one it is random
     */
    constructor(bound: number, producer?: number | undefined);
    bound: number;
    isRandom: boolean;
    producer: number;
    sequence: number;
    bytes: number;
    repeated: number;
    unanswered: number;
    /** @type {Map<number, Piece>} */
    outstanding: Map<number, Piece>;
    /** @type {Map<number, Piece>} */
    deferred: Map<number, Piece>;
    together: number;
    /** @type {{publication: Publication, texts: string[]}[]} */
    shared: {
        publication: Publication;
        texts: string[];
    }[];
    sharedRows: number;
    sharedHead: string;
    scheduled: boolean;
    /** @type {(() => void)[]} */
    waiters: (() => void)[];
    /** @type {import("./connection.js").Connection | null} */
    connection: import("./connection.js").Connection | null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    retry: ReturnType<typeof setTimeout> | undefined;
    get isFull(): boolean;
    /** Resolves when something has changed: there is room again, or nothing is outstanding. */
    change(): Promise<unknown>;
    /**
     * Takes events as texts. A few wait until the loop comes round, to share a message with others.
     * @param {Publication} publication
     * @param {string[]} texts
     * @param {"accepted" | "processed" | "durable"} ack
     * @param {number} [sequence]
     */
    add(publication: Publication, texts: string[], ack: "accepted" | "processed" | "durable", sequence?: number | undefined): void;
    /**
     * Takes a publication that has to be one message, so that it is the same one when it is repeated.
     * @param {Publication} publication
     * @param {string[]} texts
     * @param {string} head
     * @param {number} sequence
     */
    addNumbered(publication: Publication, texts: string[], head: string, sequence: number): void;
    /** Makes a message of the few events that wait. */
    shareOut(): void;
    /**
     * Sends events in as many messages as they need.
     * @param {Publication} publication
     * @param {string[]} texts
     * @param {string} head
     */
    cut(publication: Publication, texts: string[], head: string): void;
    /**
     * @param {string[]} texts
     * @param {Part[]} parts
     * @param {string} head
     * @param {boolean} [isNumbered]
     */
    queue(texts: string[], parts: Part[], head: string, isNumbered?: boolean | undefined): void;
    /** @param {Piece} piece */
    send(piece: Piece): void;
    /**
     * Sends again all that has no outcome.
     * @param {import("./connection.js").Connection} connection
     */
    connected(connection: import("./connection.js").Connection): void;
    /** @param {GorgoError} reason */
    disconnected(reason: GorgoError): void;
    /**
     * A message was above the server's limit, so the largest of those under way is, too. The server has taken nothing of it,
     * and never will.
     */
    giveUpLargest(): void;
    /**
     * The server's answer to a message.
     * @param {any} answer
     */
    take(answer: any): void;
    /** @param {Piece} piece */
    defer(piece: Piece): void;
    /**
     * @param {Piece} piece
     * @param {any} ack
     */
    applied(piece: Piece, ack: any): void;
    /**
     * A later message was applied, so the server takes this one's number for applied, too.
     * @param {Piece} piece
     * @param {boolean} byDuplicate by a connection before this one, which may have carried this message, too
     */
    overtaken(piece: Piece, byDuplicate: boolean): void;
    /** Sends a few, then twice as many each time: what the server has no room for would only cost it time. */
    sendDeferred(): void;
    /**
     * @param {Piece} piece
     * @param {GorgoError | null} error
     */
    forget(piece: Piece, error: GorgoError | null): void;
    /**
     * Ends all that is under way with an unknown outcome.
     * @param {GorgoError} reason
     */
    giveUp(reason: GorgoError): void;
}
/**
 * The rows of a message that belong to one publication: from row `first` of the message on, `rows` of them, which are
 * the publication's from row `offset` on.
 */
export type Part = {
    publication: Publication;
    first: number;
    rows: number;
    offset: number;
};
/**
 * isNumbered: by the user, who relies on it
 */
export type Piece = {
    number: number;
    head: string;
    text: string;
    rows: number;
    parts: Part[];
    isNumbered?: boolean;
    wasSent?: boolean;
};
import { GorgoError } from "./errors.js";
