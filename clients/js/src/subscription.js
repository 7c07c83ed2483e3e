import { ClosedError, ConnectError, InvalidText } from "./errors.js";
import { eventOf } from "./events.js";
import { Link } from "./link.js";

/** @typedef {import("./events.js").Event | import("./events.js").Notice} Item */

/**
 * Yields what matches `text`, and a notice wherever something may be missing. It has a WebSocket of its own, and
 * connects and subscribes again for as long as it is not closed. It ends with an error only when the server does not
 * accept the text any more, and quietly when it was drained or closed.
 */
export class Subscription {
  /**
   * @param {string} address
   * @param {string} text
   * @param {import("./options.js").Settings} settings
   */
  constructor(address, text, settings) {
    this.text = text;
    this.settings = settings;
    this.received = 0;
    this.lost = 0;
    this.reconnections = 0;
    /** @type {Item[]} */
    this.items = []; // from `head` on
    this.head = 0;
    this.waitingEvents = 0;
    this.ended = false;
    /** @type {Error | null} */
    this.failure = null;
    /** @type {import("./errors.js").GorgoError | null} */
    this.lastDown = null;
    this.downSince = 0;
    /** @type {(() => void) | null} */
    this.wake = null;
    this.link = new Link(address, settings, {
      message: (message) => this.take(message),
      up: (connection, attempts) => this.subscribe(connection, attempts),
      down: (reason) => this.down(reason),
    });
  }

  /** Subscribes; rejects with InvalidText where the server finds errors in the text. */
  open() {
    return this.link.open();
  }

  /**
   * @param {import("./connection.js").Connection} connection
   * @param {number} attempts
   * @returns {Promise<void>}
   */
  subscribe(connection, attempts) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => connection.end(new ConnectError("the server did not answer the subscription")),
        this.settings.timeout * 1000);
      connection.ask({ subscribe: this.text, subscription: 0 }, (answer) => {
        clearTimeout(late);
        const failed = (answer.diagnostics ?? []).some((/** @type {any} */ d) => d.severity === "error");
        if (failed) {
          this.failure = new InvalidText(answer.diagnostics);
          this.end();
          reject(this.failure);
          return;
        }
        this.resumed(attempts);
        resolve();
      }, (error) => {
        clearTimeout(late);
        reject(error);
      });
    });
  }

  /** @param {number} attempts */
  resumed(attempts) {
    if (!this.lastDown) return;
    this.reconnections += 1;
    this.put({ kind: "reconnected", seconds: (Date.now() - this.downSince) / 1000, attempts });
    const reason = `the connection was lost: ${this.lastDown.message}`;
    this.put({ kind: "gap", reason, lost: null, first: null, last: null });
    this.lastDown = null;
  }

  /** @param {import("./errors.js").GorgoError} reason */
  down(reason) {
    this.lastDown = reason;
    this.downSince = Date.now();
    this.put({ kind: "disconnected", reason: reason.message, code: reason.code });
  }

  /** @param {any} message */
  take(message) {
    if (message.gap) {
      this.lost += message.gap.lost ?? 0;
      this.put({ kind: "gap", reason: "this client was too slow", lost: message.gap.lost ?? null, first: null, last: null });
    } else if (message.type !== undefined) {
      this.takeEvent(eventOf(message));
    }
  }

  /** @param {import("./events.js").Event} event */
  takeEvent(event) {
    if (this.waitingEvents < this.settings.receiveEvents) {
      this.received += 1;
      this.waitingEvents += 1;
      this.put(event);
      return;
    }
    this.lost += 1;
    const last = this.items[this.items.length - 1];
    if (last?.kind === "gap" && last.last && this.items.length > this.head) {
      last.lost = (last.lost ?? 0) + 1;
      last.last = event.place;
      return;
    }
    const reason = `more than ${this.settings.receiveEvents} events waited for their reader`;
    this.put({ kind: "gap", reason, lost: 1, first: event.place, last: event.place });
  }

  /** @param {Item} item */
  put(item) {
    if (this.ended) return;
    this.items.push(item);
    this.wake?.();
  }

  end() {
    this.ended = true;
    this.wake?.();
  }

  /**
   * Waits until an item is there or the stream has ended; false: neither within `timeout` seconds.
   * @param {number} [timeout]
   * @returns {Promise<boolean>}
   */
  ready(timeout) {
    if (this.items.length > this.head || this.ended) return Promise.resolve(true);
    if (this.wake) return Promise.reject(new Error("a subscription has one reader at a time"));
    return new Promise((resolve) => {
      const late = timeout === undefined ? undefined : setTimeout(() => this.wake?.(), timeout * 1000);
      this.wake = () => {
        clearTimeout(late);
        this.wake = null;
        resolve(this.items.length > this.head || this.ended);
      };
    });
  }

  /** @returns {Item | undefined} */
  shift() {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.head += 1;
    if (item.kind === "event") this.waitingEvents -= 1;
    if (this.head > 1024 && 2 * this.head > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  finish() {
    if (this.failure) throw this.failure;
  }

  /**
   * The next event or notice; undefined when none came within `timeout` seconds. ClosedError at the end.
   * @param {number} [timeout]
   * @returns {Promise<Item | undefined>}
   */
  async next(timeout) {
    if (!(await this.ready(timeout))) return undefined;
    const item = this.shift();
    if (item) return item;
    this.finish();
    throw new ClosedError("the subscription has ended");
  }

  /** @returns {AsyncGenerator<Item, void, void>} */
  async *[Symbol.asyncIterator]() {
    while (true) {
      let item = this.shift();
      if (!item) {
        await this.ready();
        item = this.shift();
      }
      if (!item) {
        this.finish();
        return;
      }
      yield item;
    }
  }

  /**
   * All events that wait at a time together, and notices.
   * @returns {AsyncGenerator<import("./events.js").Batch | import("./events.js").Notice, void, void>}
   */
  async *batches() {
    while (true) {
      await this.ready();
      /** @type {import("./events.js").Event[]} */
      const events = [];
      let item = this.shift();
      for (; item?.kind === "event"; item = this.shift()) events.push(item);
      if (events.length > 0) yield { kind: "batch", events };
      if (item) yield item;
      if (events.length === 0 && !item) {
        this.finish();
        return;
      }
    }
  }

  /** Numbers for a monitor. */
  metrics() {
    const { received, lost, reconnections, waitingEvents } = this;
    return { received, lost, reconnections, waitingEvents };
  }

  /**
   * Unsubscribes. The stream ends behind the last event that matched before.
   * @returns {Promise<void>}
   */
  async drain() {
    const connection = this.link.connection;
    if (!this.ended && connection) {
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        connection.ask({ unsubscribe: 0 }, resolve, () => {
          const reason = "the connection was lost while the subscription ended";
          this.put({ kind: "gap", reason, lost: null, first: null, last: null });
          resolve();
        });
      });
    }
    this.end();
    this.link.close();
  }

  /** Ends at once. What has come and was not read is discarded. */
  close() {
    this.items = [];
    this.head = 0;
    this.waitingEvents = 0;
    this.end();
    this.link.close();
  }
}
