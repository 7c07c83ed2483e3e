/** @param {{code?: string, reason: string, hint?: string}} error */
export function serverError(error: {
    code?: string;
    reason: string;
    hint?: string;
}): ServerError;
/** The code of the error where a message was larger than the server takes. */
export const TOO_LARGE: "too_large";
/** One WebSocket: messages in and out, questions and their answers, signs of life. */
export class Connection {
    /**
     * @param {import("./http.js").Http} http
     * @param {Handlers} handlers `message` gets what no question waits for; after `ended` nothing is called any more
     */
    constructor(http: import("./http.js").Http, handlers: Handlers);
    settings: import("./options.js").Settings;
    handlers: Handlers;
    address: string;
    /** @type {GorgoError | null} */
    failure: GorgoError | null;
    /** @type {Map<number, Waiter>} */
    waiting: Map<number, Waiter>;
    nextRequest: number;
    lastSign: number;
    /** @type {GorgoError | null} */
    lastWords: GorgoError | null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    timer: ReturnType<typeof setInterval> | undefined;
    socket: WebSocket;
    /** Resolves when messages can be sent. */
    opened(): Promise<unknown>;
    /**
     * Sends a question. `then` is called with the answer before anything that came behind it is looked at.
     * @param {Record<string, unknown>} question
     * @param {(message: any) => void} then
     * @param {(error: GorgoError) => void} fail
     */
    ask(question: Record<string, unknown>, then: (message: any) => void, fail: (error: GorgoError) => void): void;
    /** @param {string} text */
    send(text: string): void;
    /** @param {string} text */
    take(text: string): void;
    /** Asks a quiet server for a sign of life, and gives it up when that does not come either. */
    watch(): void;
    /** @param {GorgoError} reason */
    end(reason: GorgoError): void;
}
export type Waiter = {
    then: (message: any) => void;
    fail: (error: GorgoError) => void;
};
export type Handlers = {
    message: (message: any) => void;
    ended: (reason: GorgoError) => void;
};
import { ServerError } from "./errors.js";
import { GorgoError } from "./errors.js";
