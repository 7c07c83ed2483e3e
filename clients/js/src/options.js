import { GorgoError } from "./errors.js";

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
export function settingsOf(options) {
  const found = options.WebSocket ?? globalThis.WebSocket;
  if (!found) {
    throw new GorgoError("address", "there is no WebSocket here",
      "Node 22 has one, Node 20 with --experimental-websocket; else pass {WebSocket} of the package `ws`");
  }
  return {
    timeout: 30, heartbeat: 15, reconnectLeast: 0.05, reconnectMost: 5, publishBytes: 16 << 20, receiveEvents: 100_000,
    ...options, WebSocket: found,
  };
}

/**
 * The server's address for HTTP: an argument, GORGO_HTTP of the environment, or where the page comes from.
 * @param {string} [address]
 */
export function addressOf(address) {
  const scope = /** @type {any} */ (globalThis);
  const text = address ?? scope.process?.env?.GORGO_HTTP ?? scope.location?.origin ?? "http://127.0.0.1:8080";
  let url;
  try {
    url = new URL(text.replace(/^ws/, "http"));
  } catch {
    url = null;
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new GorgoError("address", `'${text}' is no address`, "write http://HOST:PORT of the server's HTTP port");
  }
  return url.href.replace(/\/$/, "");
}

/**
 * A token goes over TLS, or does not leave this machine. What a page's own server gets is decided by how the page came.
 * @param {string} address
 * @param {string | undefined} token
 */
export function checkToken(address, token) {
  if (token === undefined) return;
  if (!/^[\w.~+/=-]+$/.test(token)) throw new GorgoError("address", "the token has characters that no token has", "`gorgo user token` makes one");
  const { protocol, hostname, origin } = new URL(address);
  if (origin === /** @type {any} */ (globalThis).location?.origin) return;
  if (protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return;
  throw new GorgoError("address", `a token is not sent to ${address} without TLS`, "write https://");
}

/**
 * @param {string} message
 * @param {string} hint
 */
function wrong(message, hint) {
  return new GorgoError("option", message, hint);
}

/** @param {SubscribeOptions} options */
export function checkSubscription({ durable, seen, credit, most }) {
  if (durable !== undefined && credit !== undefined) {
    throw wrong("a durable subscription needs no credit: the server keeps what is not acknowledged", "leave out credit");
  }
  if (most !== undefined && (durable ?? credit) !== undefined) {
    throw wrong("a sample has no credit and is never durable", "leave out most, or the other option");
  }
  if (seen && durable === undefined) {
    throw wrong("only a durable subscription goes on behind what was seen", "give it a name: {durable: NAME, seen}");
  }
  for (const [name, value] of Object.entries({ credit, most })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw wrong(`'${value}' cannot be ${name}`, "it is a number of events, at least 1");
  }
}
