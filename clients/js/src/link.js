import { ClosedError, ConnectError, GorgoError, InvalidText } from "./errors.js";
import { Connection } from "./connection.js";

/**
 * A connection that comes back: it connects again for as long as nobody closes it.
 *
 * `up` is called with each new connection and resolves when it is of use; `down` with the reason when a connection
 * that was up has ended. InvalidText from `up` ends the link, as the reason `not_found` does: the durable subscription of
 * the connection is another's or nobody's.
 * @typedef {{
 *   message: (message: any) => void,
 *   up: (connection: Connection, attempts: number) => Promise<void> | void,
 *   down: (reason: GorgoError) => void,
 * }} LinkHandlers
 */
export class Link {
  /**
   * @param {string} address
   * @param {import("./options.js").Settings} settings
   * @param {LinkHandlers} handlers
   */
  constructor(address, settings, handlers) {
    this.address = address;
    this.settings = settings;
    this.handlers = handlers;
    /** @type {Connection | null} */
    this.connection = null;
    /** @type {GorgoError | null} */
    this.failure = null;
    this.closed = false;
    this.attempts = 0;
    this.delay = settings.reconnectLeast;
    /** @type {(() => void) | null} */
    this.wake = null;
  }

  /** Resolves at the first connection; rejects with the reason when there is none within the timeout. */
  async open() {
    const deadline = Date.now() + this.settings.timeout * 1000;
    while (!this.closed) {
      try {
        await this.connect();
        return;
      } catch (error) {
        this.note(error);
        if (error instanceof InvalidText || Date.now() > deadline) {
          this.close();
          throw error;
        }
      }
      await this.pause();
    }
    throw new ClosedError();
  }

  /** Connects until it succeeds. */
  async recover() {
    while (!this.closed) {
      await this.pause();
      if (this.closed) return;
      try {
        await this.connect();
        return;
      } catch (error) {
        this.note(error);
        if (error instanceof InvalidText) return;
      }
    }
  }

  /** @param {unknown} error */
  note(error) {
    this.failure = error instanceof GorgoError ? error : new ConnectError(String(error));
  }

  async connect() {
    this.attempts += 1;
    const begin = Date.now();
    let isUp = false;
    const connection = new Connection(this.address, this.settings, {
      message: this.handlers.message,
      ended: (reason) => {
        this.failure = reason;
        if (this.connection === connection) this.connection = null;
        if (!isUp || this.closed) return;
        if (Date.now() - begin > this.settings.reconnectMost * 1000) this.delay = this.settings.reconnectLeast;
        this.handlers.down(reason);
        if (reason.code === "not_found") this.closed = true;
        else void this.recover();
      },
    });
    this.opening = connection;
    await connection.opened();
    try {
      await this.handlers.up(connection, this.attempts);
    } catch (error) {
      connection.end(new ClosedError());
      throw error;
    }
    if (connection.failure) throw connection.failure;
    isUp = true;
    this.attempts = 0;
    this.connection = connection;
  }

  /** Delays double up to a bound, each with a random share, so that clients do not come back all at once. */
  pause() {
    const delay = this.delay * (0.5 + Math.random() / 2);
    this.delay = Math.min(this.settings.reconnectMost, 2 * this.delay);
    return new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      const timer = setTimeout(resolve, delay * 1000);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close() {
    this.closed = true;
    this.wake?.();
    this.opening?.end(new ClosedError());
  }
}
