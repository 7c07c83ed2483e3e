import { ClosedError, ConnectError, GorgoError, InvalidText, ServerError } from "./errors.js";
import { Connection } from "./connection.js";

// Errors of the server that trying again does not mend: of them the durable subscription is another's or nobody's
// (`not_found`), and the others are about who asks.
const FINAL = ["unauthenticated", "forbidden", "not_found"];
// Those that go away by themselves.
const PASSING = ["overloaded", "stopping", "timeout"];

/** Delays that double up to a bound, each with a random share, so that clients do not come back all at once. */
export class Backoff {
  /** @param {import("./options.js").Settings} settings */
  constructor(settings) {
    this.least = settings.reconnectLeast;
    this.most = settings.reconnectMost;
    this.delay = this.least;
    /** @type {(() => void) | null} */
    this.wake = null;
  }

  reset() {
    this.delay = this.least;
  }

  /** Resolves after the next delay, or when `wake` is called. */
  pause() {
    const delay = this.delay * (0.5 + Math.random() / 2);
    this.delay = Math.min(this.most, 2 * this.delay);
    return new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      const timer = setTimeout(resolve, delay * 1000);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended and will come back. `ended` is called once, with an error that trying again does not mend.
 * @typedef {{
 *   message: (message: any) => void,
 *   up: (connection: Connection, attempts: number) => Promise<void> | void,
 *   down: (reason: GorgoError) => void,
 *   ended: (reason: GorgoError) => void,
 * }} LinkHandlers
 */
export class Link {
  /**
   * @param {import("./http.js").Http} http
   * @param {LinkHandlers} handlers
   */
  constructor(http, handlers) {
    this.http = http;
    this.settings = http.settings;
    this.handlers = handlers;
    /** @type {Connection | null} */
    this.connection = null;
    /** @type {GorgoError | null} */
    this.failure = null;
    this.started = false;
    this.closed = false;
    this.wasUp = false;
    this.attempts = 0;
    this.backoff = new Backoff(this.settings);
  }

  /** Resolves at the first connection; rejects with the reason when there is none within the timeout. */
  async open() {
    this.started = true;
    const deadline = Date.now() + this.settings.timeout * 1000;
    while (!(await this.tryOnce())) {
      if (!this.closed && Date.now() > deadline) this.close();
      if (this.closed) throw this.failure ?? new ClosedError();
      await this.backoff.pause();
    }
  }

  /** Connects beside the caller, unless that goes on already. */
  start() {
    if (this.started) return;
    this.started = true;
    void this.recover();
  }

  /** Connects until it succeeds. */
  async recover() {
    while (!this.closed && !(await this.tryOnce())) await this.backoff.pause();
  }

  /** Returns whether there is a connection. */
  async tryOnce() {
    if (this.closed) return false;
    try {
      await this.connect();
      return true;
    } catch (error) {
      this.failure = error instanceof GorgoError ? error : new ConnectError(String(error));
      if (this.isFinal(this.failure)) this.finish(this.failure);
      return false;
    }
  }

  /**
   * Whether trying again is in vain. What the server refuses at first is, but for what passes; later its operators may
   * mend it.
   * @param {GorgoError} error
   */
  isFinal(error) {
    if (error instanceof InvalidText || FINAL.includes(error.code)) return true;
    return !this.wasUp && error instanceof ServerError && !PASSING.includes(error.code);
  }

  /** @param {GorgoError} reason */
  finish(reason) {
    if (this.closed) return;
    this.closed = true;
    this.handlers.ended(reason);
  }

  async connect() {
    this.attempts += 1;
    const begin = Date.now();
    let isUp = false;
    const connection = new Connection(this.http, {
      message: this.handlers.message,
      ended: (reason) => {
        if (this.connection === connection) this.connection = null;
        if (!isUp || this.closed) return;
        this.failure = reason;
        if (Date.now() - begin > this.settings.reconnectMost * 1000) this.backoff.reset();
        if (this.isFinal(reason)) {
          this.finish(reason);
          return;
        }
        this.handlers.down(reason);
        void this.backoff.pause().then(() => this.recover());
      },
    });
    this.opening = connection;
    await this.opened(connection);
    try {
      await this.handlers.up(connection, this.attempts);
    } catch (error) {
      connection.end(new ClosedError());
      throw error;
    }
    if (connection.failure) throw connection.failure;
    isUp = true;
    this.wasUp = true;
    this.attempts = 0;
    this.connection = connection;
  }

  /**
   * A WebSocket does not say why it was refused, but the answer to a request does.
   * @param {Connection} connection
   */
  async opened(connection) {
    try {
      await connection.opened();
    } catch (error) {
      if (!this.closed) await this.http.reach();
      throw error;
    }
    if (this.closed) connection.end(new ClosedError());
  }

  close() {
    this.closed = true;
    this.backoff.wake?.();
    this.opening?.end(new ClosedError());
  }
}
