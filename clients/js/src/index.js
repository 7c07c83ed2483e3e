import { Client } from "./client.js";
import { addressOf, checkToken, settingsOf } from "./options.js";

export { Client } from "./client.js";
export { ClosedError, ConnectError, GorgoError, InvalidText, OutcomeUnknown, Refused, ServerError } from "./errors.js";
export { Publication } from "./publisher.js";
export { Subscription } from "./subscription.js";

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
export async function connect(address, options = {}) {
  const client = createClient(address, options);
  await client.reach();
  return client;
}

/**
 * The client that `connect` resolves to, without asking the server: it connects when that is first needed.
 * @param {string} [address]
 * @param {Options} [options]
 */
export function createClient(address, options = {}) {
  const where = addressOf(address);
  checkToken(where, options.token);
  return new Client(where, settingsOf(options));
}
