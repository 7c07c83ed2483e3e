import { ClosedError, ConnectError, GorgoError, InvalidText, OutcomeUnknown, ServerError } from "./errors.js";

/** @type {Record<number, string>} */
const CODES = { 400: "invalid", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 413: "too_large", 429: "overloaded", 503: "overloaded" };

/**
 * The error that a response tells of.
 * @param {Response} response
 */
async function refusalOf(response) {
  const answer = await response.json().catch(() => ({}));
  if (answer.diagnostics) return new InvalidText(answer.diagnostics);
  const code = CODES[response.status] ?? `http_${response.status}`;
  return new ServerError(code, answer.reason ?? `the server answered ${response.status}`, answer.hint);
}

/** @param {unknown} error */
function whyOf(error) {
  return /** @type {any} */ (error).cause?.message ?? /** @type {Error} */ (error).message;
}

/** Requests to the server's HTTP port, and the addresses of its WebSockets. */
export class Http {
  /**
   * @param {string} address
   * @param {import("./options.js").Settings} settings
   */
  constructor(address, settings) {
    this.address = address;
    this.settings = settings;
    this.closed = false;
  }

  /**
   * The response, which is well, to a request below /v1/. Rejects with ServerError or InvalidText where the server
   * refuses it, and with what `fetch` rejects with where there is no answer.
   * @param {string} path
   * @param {RequestInit} [options]
   */
  async fetch(path, options = {}) {
    if (this.closed) throw new ClosedError();
    const headers = new Headers(options.headers);
    if (this.settings.token !== undefined) headers.set("Authorization", `Bearer ${this.settings.token}`);
    const response = await fetch(`${this.address}/v1/${path}`, { cache: "no-store", ...options, headers });
    if (response.type !== "opaque" && !response.ok) throw await refusalOf(response);
    return response;
  }

  /**
   * What the server answers to a request of docs/http.md, `path` being what follows /v1/.
   * @param {string} method
   * @param {string} path
   * @param {string} [body]
   * @returns {Promise<any>}
   */
  async request(method, path, body) {
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), this.settings.timeout * 1000);
    try {
      const response = await this.fetch(path, { method, signal: stop.signal, ...(body !== undefined && { body }) });
      return await response.json();
    } catch (error) {
      if (error instanceof GorgoError) throw error;
      const why = `${method} ${path}: ${whyOf(error)}`;
      if (method === "GET") throw new GorgoError("connect", why, "is the server there?");
      throw new OutcomeUnknown(why, "look at the state of the server before you try again");
    } finally {
      clearTimeout(late);
    }
  }

  /**
   * What is wrong with a text: the answer to a question about it, or to a deployment that it is refused by.
   * @param {string} method
   * @param {string} path
   * @param {string} body
   * @returns {Promise<import("./errors.js").Diagnostic[]>}
   */
  async diagnostics(method, path, body) {
    try {
      return (await this.request(method, path, body)).diagnostics;
    } catch (error) {
      if (error instanceof InvalidText) return error.diagnostics;
      throw error;
    }
  }

  /**
   * Asks whether the server is there and knows who this is. To a page from elsewhere browsers only say the former.
   * @returns {Promise<void>}
   */
  async reach() {
    const page = /** @type {any} */ (globalThis).location?.origin;
    const isForeign = page !== undefined && page !== new URL(this.address).origin;
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), this.settings.timeout * 1000);
    try {
      // Without a subscription the server refuses it as invalid, once it knows who asks.
      await this.fetch("events", { signal: stop.signal, ...(isForeign && { mode: "no-cors" }) });
    } catch (error) {
      if (error instanceof ServerError && error.code === "invalid") return;
      if (error instanceof GorgoError) throw error;
      throw new ConnectError(`${this.address}: ${whyOf(error)}`, "does `gorgo serve --http` run there?");
    } finally {
      clearTimeout(late);
    }
  }

  /**
   * A WebSocket below /v1/.
   * @param {string} path
   * @returns {WebSocket}
   */
  webSocket(path) {
    const url = `${this.address.replace(/^http/, "ws")}/v1/${path}`;
    const { token, WebSocket } = this.settings;
    // A page cannot set headers of a WebSocket. Of these two protocols the server chooses the first.
    return token === undefined ? new WebSocket(url) : new WebSocket(url, ["gorgo", `gorgo.token.${token}`]);
  }
}
