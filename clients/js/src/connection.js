import { ConnectError, GorgoError, ServerError } from "./errors.js";

/**
 * @typedef {{then: (message: any) => void, fail: (error: GorgoError) => void}} Waiter
 * @typedef {{message: (message: any) => void, ended: (reason: GorgoError) => void}} Handlers
 */

/** An id that no connection gives to a subscription, so that asking about it changes nothing. */
const NOBODY = 0xffffffff;

/** The code of the error where a message was larger than the server takes. */
export const TOO_LARGE = "too_large";
/** By which a WebSocket says that. */
const MESSAGE_TOO_BIG = 1009;

/** One WebSocket: messages in and out, questions and their answers, signs of life. */
export class Connection {
  /**
   * @param {import("./http.js").Http} http
   * @param {Handlers} handlers `message` gets what no question waits for; after `ended` nothing is called any more
   */
  constructor(http, handlers) {
    this.settings = http.settings;
    this.handlers = handlers;
    this.address = http.address;
    /** @type {GorgoError | null} */
    this.failure = null;
    /** @type {Map<number, Waiter>} */
    this.waiting = new Map();
    this.nextRequest = 0;
    this.lastSign = Date.now();
    /** @type {GorgoError | null} */
    this.lastWords = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.socket = http.webSocket("events");
  }

  /** Resolves when messages can be sent. */
  opened() {
    return new Promise((/** @type {(value?: unknown) => void} */ resolve, reject) => {
      const socket = this.socket;
      const late = setTimeout(() => {
        this.end(new ConnectError(`${this.address} did not answer within ${this.settings.timeout} s`));
      }, this.settings.timeout * 1000);
      const ended = this.handlers.ended;
      this.handlers.ended = (reason) => {
        clearTimeout(late);
        reject(reason);
      };
      socket.onopen = () => {
        clearTimeout(late);
        this.handlers.ended = ended;
        this.watch();
        resolve();
      };
      socket.onmessage = (event) => this.take(String(event.data));
      socket.onerror = (event) => {
        const why = /** @type {any} */ (event).message ?? "";
        this.end(new ConnectError(`the connection to ${this.address} failed${why ? `: ${why}` : ""}`,
          "does `gorgo serve --http` run there, and is this page one of its http.origins?"));
      };
      socket.onclose = (event) => this.end(event.code === MESSAGE_TOO_BIG
        ? new ServerError(TOO_LARGE, `${this.address} takes no message as large as one that was sent`,
          "send less in a message, or have http.max_message_bytes raised")
        : new ConnectError(`${this.address} closed the connection`));
    });
  }

  /**
   * Sends a question. `then` is called with the answer before anything that came behind it is looked at.
   * @param {Record<string, unknown>} question
   * @param {(message: any) => void} then
   * @param {(error: GorgoError) => void} fail
   */
  ask(question, then, fail) {
    if (this.failure) {
      fail(this.failure);
      return;
    }
    // Negative: those from 0 on number publications.
    const request = --this.nextRequest;
    this.waiting.set(request, { then, fail });
    this.send(JSON.stringify({ ...question, request }));
  }

  /** @param {string} text */
  send(text) {
    if (!this.failure) this.socket.send(text);
  }

  /** @param {string} text */
  take(text) {
    if (this.failure) return;
    this.lastSign = Date.now();
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      this.end(new GorgoError("protocol", "the server sent what is no JSON"));
      return;
    }
    const waiter = this.waiting.get(message.request);
    if (waiter) {
      this.waiting.delete(message.request);
      if (message.error) waiter.fail(serverError(message.error));
      else waiter.then(message);
    } else if (message.error && message.request === undefined) {
      this.lastWords = serverError(message.error);
    } else {
      this.handlers.message(message);
    }
  }

  /** Asks a quiet server for a sign of life, and gives it up when that does not come either. */
  watch() {
    const limit = this.settings.heartbeat * 1000;
    if (!limit) return;
    let asked = false;
    this.timer = setInterval(() => {
      const quiet = Date.now() - this.lastSign;
      if (quiet >= 2 * limit) {
        this.end(new ConnectError(`${this.address} gave no sign of life for ${quiet / 1000} s`));
      } else if (quiet < limit) {
        asked = false;
      } else if (!asked) {
        asked = true;
        this.ask({ unsubscribe: NOBODY }, () => {}, () => {});
      }
    }, limit / 4);
  }

  /** @param {GorgoError} reason */
  end(reason) {
    if (this.failure) return;
    this.failure = this.lastWords ?? reason;
    clearInterval(this.timer);
    for (const waiter of this.waiting.values()) waiter.fail(this.failure);
    this.waiting.clear();
    this.socket.close();
    this.handlers.ended(this.failure);
  }
}

/** @param {{code?: string, reason: string, hint?: string}} error */
export function serverError(error) {
  return new ServerError(error.code ?? "server", error.reason, error.hint);
}
