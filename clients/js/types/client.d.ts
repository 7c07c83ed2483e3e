/**
 * A client of one server. It opens a WebSocket with the first publication, and one for each subscription, so that a slow
 * reader holds up nothing else. Lost connections come back by themselves.
 */
export class Client {
    /**
     * @param {string} address
     * @param {import("./options.js").Settings} settings
     */
    constructor(address: string, settings: import("./options.js").Settings);
    settings: import("./options.js").Settings;
    http: Http;
    publisher: Publisher;
    /** @type {Subscription[]} */
    subscriptions: Subscription[];
    /** @type {Publication[]} */
    unseen: Publication[];
    /** @type {Published} */
    sums: Published;
    connections: number;
    closed: boolean;
    link: Link;
    /** Resolves when the server has answered; rejects with the reason when it does not within the timeout, or refuses to. */
    reach(): Promise<void>;
    /**
     * Publishes one event or several, in their order, and waits for the outcome. Rejects with Refused when the server
     * refused some, and with OutcomeUnknown when there is no outcome within `timeout` seconds.
     *
     * `processed`: the outcome comes when the composites are on their way; `durable`: when the events survive a crash, for
     * which the server needs a journal. `sequence` numbers the publication, which must fit in a message; each has a larger
     * one than those before. With the option `producer` of `connect`, the same events may be published again under their
     * number after a crash of this program, too: `duplicates` counts what the server has applied before. With that option
     * each publication names a `sequence`.
     * @param {Publishable | Publishable[]} events
     * @param {PublishOptions & {sequence?: number, timeout?: number}} options
     * @returns {Promise<Published>}
     */
    publish(events: Publishable | Publishable[], { processed, durable, sequence, timeout }?: PublishOptions & {
        sequence?: number;
        timeout?: number;
    }): Promise<Published>;
    /**
     * Publishes without waiting for the outcome; it waits only while `publishBytes` are without one. `flush` and
     * `drain` reject with what went wrong with those whose `outcome()` nobody asked for.
     * @param {Publishable | Publishable[]} events
     * @param {PublishOptions & {sequence?: number}} options
     * @returns {Promise<Publication>}
     */
    send(events: Publishable | Publishable[], { processed, durable, sequence }?: PublishOptions & {
        sequence?: number;
    }): Promise<Publication>;
    /**
     * Publishes events by columns: {Temp: {area: [..], value: [..], timestamp: [..]}}. undefined and null mean that a
     * row lacks the attribute.
     * @param {Record<string, Record<string, ArrayLike<any>>>} types
     * @param {PublishOptions & {sequence?: number, timeout?: number}} options
     * @returns {Promise<Published>}
     */
    publishColumns(types: Record<string, Record<string, ArrayLike<any>>>, options: PublishOptions & {
        sequence?: number;
        timeout?: number;
    }): Promise<Published>;
    /**
     * Waits until all publications have their outcome; resolves to the sums of those of `send` since the last flush.
     * @param {number} [timeout] seconds
     * @returns {Promise<Published>}
     */
    flush(timeout?: number | undefined): Promise<Published>;
    /**
     * @param {Publishable | Publishable[]} events
     * @param {"accepted" | "processed" | "durable"} ack
     * @param {number} timeout
     * @param {number} [sequence]
     */
    hand(events: Publishable | Publishable[], ack: "accepted" | "processed" | "durable", timeout: number, sequence?: number | undefined): Promise<Publication>;
    /**
     * False: nothing changed before the deadline.
     * @param {number} deadline
     * @returns {Promise<boolean>}
     */
    change(deadline: number): Promise<boolean>;
    /**
     * @param {Publication} publication
     * @param {number} timeout
     * @returns {Promise<void>}
     */
    inTime(publication: Publication, timeout: number): Promise<void>;
    /**
     * Keeps account of a publication that nobody may wait for.
     * @param {Publication} publication
     */
    watch(publication: Publication): void;
    whyDown(): string;
    /**
     * Subscribes to a type and conditions: `Fire`, `Fire(measuredTemp > 50)`, `*`. Every event that is placed after
     * this resolves and matches will be in the stream, or a notice in its place.
     * @param {string} text
     * @param {import("./subscription.js").SubscribeOptions} [options]
     * @returns {Promise<Subscription>}
     */
    subscribe(text: string, options?: import("./options.js").SubscribeOptions | undefined): Promise<Subscription>;
    /**
     * The durable subscriptions that this user may see.
     * @returns {Promise<Info[]>}
     */
    durables(): Promise<Info[]>;
    /**
     * Ends a durable subscription; what waits for it is forgotten.
     * @param {string} name
     */
    endDurable(name: string): Promise<void>;
    /**
     * What a deployment of the text would say. Nothing is deployed.
     * @param {string} name
     * @param {string} text
     * @param {{replace?: boolean}} options
     * @returns {Promise<Diagnostic[]>}
     */
    check(name: string, text: string, { replace }?: {
        replace?: boolean;
    }): Promise<Diagnostic[]>;
    /**
     * Deploys the rules of a text, as a whole or not at all; resolves to warnings, rejects with InvalidText.
     * @param {string} name
     * @param {string} text
     * @param {{replace?: boolean, withHistory?: boolean}} options
     * @returns {Promise<Diagnostic[]>}
     */
    deploy(name: string, text: string, { replace, withHistory }?: {
        replace?: boolean;
        withHistory?: boolean;
    }): Promise<Diagnostic[]>;
    /**
     * Removes a rule by its full name, or all rules of a deployment; `deployment`: even where a rule has its name.
     * @param {string} rule
     * @param {{deployment?: boolean}} options
     */
    remove(rule: string, { deployment }?: {
        deployment?: boolean;
    }): Promise<void>;
    /**
     * Has the rule evaluated by this engine; "auto": where it costs least.
     * @param {string} rule
     * @param {string} [engine]
     */
    pin(rule: string, engine?: string | undefined): Promise<void>;
    /**
     * All rules, without their texts.
     * @returns {Promise<Info[]>}
     */
    rules(): Promise<Info[]>;
    /**
     * One rule, with its text.
     * @param {string} name
     * @returns {Promise<Info>}
     */
    rule(name: string): Promise<Info>;
    /**
     * Why a rule fired or did not at its last terminators, or at the events with a timestamp.
     * @param {string} rule
     * @param {{last?: number, at?: number | Date}} options
     * @returns {Promise<Info>}
     */
    why(rule: string, { last, at }?: {
        last?: number;
        at?: number | Date;
    }): Promise<Info>;
    /**
     * The types that rules read.
     * @returns {Promise<Info[]>}
     */
    types(): Promise<Info[]>;
    /**
     * A request of docs/http.md that has no method of its own; `path` is what follows /v1/.
     * @param {string} method
     * @param {string} path
     * @param {string} [body]
     * @returns {Promise<any>} the answer
     */
    request(method: string, path: string, body?: string | undefined): Promise<any>;
    /** Connections that came back, messages that were sent again, and what has no outcome yet. */
    metrics(): {
        reconnections: number;
        repeated: number;
        outstandingMessages: number;
        outstandingBytes: number;
    };
    /**
     * Finishes what is under way: unsubscribes, so that each stream ends behind its last event, waits for all
     * publications, and closes. Rejects with what `flush` would.
     * @param {number} [timeout] seconds
     * @returns {Promise<Published>}
     */
    drain(timeout?: number | undefined): Promise<Published>;
    /** Ends at once. Publications without an outcome end with OutcomeUnknown. */
    close(): void;
    end(): void;
}
export type Publishable = import("./events.js").Publishable;
export type Published = import("./errors.js").Published;
export type Diagnostic = import("./errors.js").Diagnostic;
/**
 * what the server tells of a rule or a type, as docs/http.md and its openapi.json say
 */
export type Info = Record<string, any>;
/**
 * what the outcome waits for, see `Client.publish`
 */
export type PublishOptions = {
    processed?: boolean;
    durable?: boolean;
};
import { Http } from "./http.js";
import { Publisher } from "./publisher.js";
import { Subscription } from "./subscription.js";
import { Publication } from "./publisher.js";
import { Link } from "./link.js";
