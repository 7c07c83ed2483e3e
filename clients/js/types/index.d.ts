/**
 * @typedef {import("./options.js").Options} Options
 * @typedef {import("./events.js").Publishable} Publishable
 * @typedef {import("./events.js").Event} Event
 * @typedef {import("./events.js").Notice} Notice
 * @typedef {import("./events.js").Place} Place
 * @typedef {import("./events.js").Batch} Batch
 * @typedef {import("./options.js").SubscribeOptions} SubscribeOptions
 * @typedef {import("./errors.js").Published} Published
 * @typedef {import("./errors.js").Refusal} Refusal
 * @typedef {import("./errors.js").Diagnostic} Diagnostic
 */
/**
 * Connects to the HTTP port of a server, `http://HOST:PORT`; without an address, to GORGO_HTTP of the environment, or to
 * where the page comes from. Rejects with the reason when that does not succeed within the timeout.
 * @param {string} [address]
 * @param {Options} [options]
 * @returns {Promise<Client>}
 */
export function connect(address?: string | undefined, options?: import("./options.js").Options | undefined): Promise<Client>;
/**
 * The client that `connect` resolves to, without asking the server: it connects when that is first needed.
 * @param {string} [address]
 * @param {Options} [options]
 */
export function createClient(address?: string | undefined, options?: import("./options.js").Options | undefined): Client;
export { Client } from "./client.js";
export { Publication } from "./publisher.js";
export { Subscription } from "./subscription.js";
export type Options = import("./options.js").Options;
export type Publishable = import("./events.js").Publishable;
export type Event = import("./events.js").Event;
export type Notice = import("./events.js").Notice;
export type Place = import("./events.js").Place;
export type Batch = import("./events.js").Batch;
export type SubscribeOptions = import("./options.js").SubscribeOptions;
export type Published = import("./errors.js").Published;
export type Refusal = import("./errors.js").Refusal;
export type Diagnostic = import("./errors.js").Diagnostic;
import { Client } from "./client.js";
export { ClosedError, ConnectError, GorgoError, InvalidText, OutcomeUnknown, Refused, ServerError } from "./errors.js";
