/**
 * @typedef {object} Options
 * @property {number} [timeout] seconds for connecting, for an answer, and for the outcome of a publication; 30
 * @property {number} [heartbeat] seconds of silence after which the client asks for a sign of life; after as many more
 *   it connects anew. 15; 0: never
 * @property {number} [reconnectLeast] seconds between two attempts to connect; they grow, and vary by chance; 0.05
 * @property {number} [reconnectMost] 5
 * @property {number} [publishBytes] publications without an outcome; beyond, `publish` and `send` wait; 16 MiB
 * @property {number} [receiveEvents] events that wait for the reader of a subscription; those that come while so many
 *   wait are left out, and a gap counts them; 100000
 * @property {string} [token] who the client is, where the server has users. It is sent over https:, to this machine, or
 *   to where the page comes from
 * @property {number} [producer] a number that a program always takes, so that it may repeat publications by their
 *   `sequence`, which each then names; without one it is random
 * @property {typeof WebSocket} [WebSocket] where there is no global one (Node before 22): that of the package `ws`
 */
/**
 * @typedef {object} SubscribeOptions
 * @property {string} [durable] the name of a durable subscription, which the server keeps until `endDurable`. It goes on
 *   behind the last event that was acknowledged, and leaves out what comes a second time
 * @property {import("./events.js").Place} [seen] of a durable subscription: the last event that an earlier run of the
 *   program has dealt with
 * @property {number} [credit] so many events may be on their way or wait for the reader; the server keeps the others
 * @property {number} [most] a sample of so many events a second, spread over those that match; notices `left_out` say
 *   how many are not in it
 */
/** @typedef {Required<Omit<Options, "token" | "producer">> & Pick<Options, "token" | "producer">} Settings */
/**
 * @param {Options} options
 * @returns {Settings}
 */
export function settingsOf(options: Options): Settings;
/**
 * The server's address for HTTP: an argument, GORGO_HTTP of the environment, or where the page comes from.
 * @param {string} [address]
 */
export function addressOf(address?: string | undefined): string;
/**
 * A token goes over TLS, or does not leave this machine. What a page's own server gets is decided by how the page came.
 * @param {string} address
 * @param {string | undefined} token
 */
export function checkToken(address: string, token: string | undefined): void;
/** @param {SubscribeOptions} options */
export function checkSubscription({ durable, seen, credit, most }: SubscribeOptions): void;
export type Options = {
    /**
     * seconds for connecting, for an answer, and for the outcome of a publication; 30
     */
    timeout?: number | undefined;
    /**
     * seconds of silence after which the client asks for a sign of life; after as many more
     * it connects anew. 15; 0: never
     */
    heartbeat?: number | undefined;
    /**
     * seconds between two attempts to connect; they grow, and vary by chance; 0.05
     */
    reconnectLeast?: number | undefined;
    /**
     * 5
     */
    reconnectMost?: number | undefined;
    /**
     * publications without an outcome; beyond, `publish` and `send` wait; 16 MiB
     */
    publishBytes?: number | undefined;
    /**
     * events that wait for the reader of a subscription; those that come while so many
     * wait are left out, and a gap counts them; 100000
     */
    receiveEvents?: number | undefined;
    /**
     * who the client is, where the server has users. It is sent over https:, to this machine, or
     * to where the page comes from
     */
    token?: string | undefined;
    /**
     * a number that a program always takes, so that it may repeat publications by their
     * `sequence`, which each then names; without one it is random
     */
    producer?: number | undefined;
    /**
     * where there is no global one (Node before 22): that of the package `ws`
     */
    WebSocket?: {
        new (url: string | URL, protocols?: string | string[] | undefined): WebSocket;
        prototype: WebSocket;
        readonly CLOSED: number;
        readonly CLOSING: number;
        readonly CONNECTING: number;
        readonly OPEN: number;
    } | undefined;
};
export type SubscribeOptions = {
    /**
     * the name of a durable subscription, which the server keeps until `endDurable`. It goes on
     * behind the last event that was acknowledged, and leaves out what comes a second time
     */
    durable?: string | undefined;
    /**
     * of a durable subscription: the last event that an earlier run of the
     * program has dealt with
     */
    seen?: import("./events.js").Place | undefined;
    /**
     * so many events may be on their way or wait for the reader; the server keeps the others
     */
    credit?: number | undefined;
    /**
     * a sample of so many events a second, spread over those that match; notices `left_out` say
     * how many are not in it
     */
    most?: number | undefined;
};
export type Settings = Required<Omit<Options, "token" | "producer">> & Pick<Options, "token" | "producer">;
