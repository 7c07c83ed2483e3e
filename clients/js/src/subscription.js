import { ClosedError, ConnectError, GorgoError, InvalidText } from "./errors.js";
import { eventOf, isBefore, placeOf } from "./events.js";
import { Link } from "./link.js";
import { checkSubscription } from "./options.js";

/**
 * @typedef {import("./events.js").Event | import("./events.js").Notice} Item
 * @typedef {import("./events.js").Place} Place
 */

/** @typedef {import("./options.js").SubscribeOptions} SubscribeOptions */

const NOWHERE = placeOf(null);

/**
 * Yields what matches `text`, and a notice wherever something may be missing. It has a WebSocket of its own, and
 * connects and subscribes again for as long as it is not closed. It ends with an error only when the server does not
 * accept the text or this client any more, and quietly when it was drained or closed.
 */
export class Subscription {
  /**
   * @param {import("./http.js").Http} http
   * @param {string} text
   * @param {SubscribeOptions} [options]
   * @param {() => Promise<Record<string, any> | undefined>} [find] asks the server for the durable subscription
   */
  constructor(http, text, options = {}, find = async () => undefined) {
    checkSubscription(options);
    const { durable, seen, credit, most } = options;
    this.text = text;
    this.durable = durable;
    this.credit = credit;
    this.most = most;
    this.find = find;
    this.acknowledged = NOWHERE; // up to where the server's answer says that it survives a crash
    this.seen = seen ?? NOWHERE; // the last event that came
    /** @type {import("./events.js").Gap | null} */
    this.told = null; // the last gap of a durable subscription, with all before it
    this.finished = NOWHERE; // acknowledged by the reader
    this.begunAnew = false; // in another journal, while the reader may be busy with what came before
    this.isAcknowledging = false;
    this.isSkipping = false; // too much waits for the reader of a durable subscription; the server has the others
    this.isResuming = false;
    this.wasUp = false;
    this.taken = 0; // events that the reader took and the server does not know of
    /** @type {(() => void)[]} */
    this.settling = []; // called when an acknowledgement is answered, and at the end
    this.settings = http.settings;
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
    this.link = new Link(http, {
      message: (message) => this.take(message),
      up: (connection, attempts) => this.subscribe(connection, attempts),
      down: (reason) => this.down(reason),
      ended: (reason) => {
        this.failure = reason;
        this.end();
      },
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
  async subscribe(connection, attempts) {
    const isAnother = this.durable !== undefined && this.wasUp && (await this.isAnother());
    await this.ask(connection, attempts, isAnother);
    this.wasUp = true;
    this.sendAcknowledgement(connection);
  }

  /**
   * Whether the server's journal is another one, where the subscription begins anew under the same name. Then what has
   * come says nothing about the places of what will.
   */
  async isAnother() {
    const found = await this.find();
    if (found && !isBefore(placeOf(found.acknowledged), this.acknowledged)) return false;
    this.seen = this.finished = this.acknowledged = NOWHERE;
    this.told = null;
    this.begunAnew = true;
    return true;
  }

  /**
   * @param {import("./connection.js").Connection} connection
   * @param {number} attempts
   * @param {boolean} isAnother
   * @returns {Promise<void>}
   */
  ask(connection, attempts, isAnother) {
    this.taken = 0;
    const { durable, most } = this;
    const credit = this.credit === undefined ? undefined : { rows: this.credit };
    const slow = most === undefined ? undefined : "drop"; // a sample leaves out anyway
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => connection.end(new ConnectError("the server did not answer the subscription")),
        this.settings.timeout * 1000);
      connection.ask({ subscribe: this.text, subscription: 0, durable, credit, most, slow }, (answer) => {
        clearTimeout(late);
        const failed = (answer.diagnostics ?? []).some((/** @type {any} */ d) => d.severity === "error");
        if (failed) {
          reject(new InvalidText(answer.diagnostics));
          return;
        }
        this.isSkipping = false;
        this.resumed(attempts, isAnother);
        resolve();
      }, (error) => {
        clearTimeout(late);
        reject(error);
      });
    });
  }

  /**
   * @param {number} attempts
   * @param {boolean} isAnother
   */
  resumed(attempts, isAnother) {
    if (!this.lastDown) return;
    this.reconnections += 1;
    this.put({ kind: "reconnected", seconds: (Date.now() - this.downSince) / 1000, attempts });
    if (this.durable === undefined || isAnother) {
      const reason = isAnother ? "the server has another journal, and has begun the durable subscription anew"
        : `the connection was lost: ${this.lastDown.message}`;
      this.put({ kind: "gap", reason, lost: null, first: null, last: null });
    }
    this.lastDown = null;
  }

  /** @param {import("./errors.js").GorgoError} reason */
  down(reason) {
    this.isAcknowledging = false;
    this.lastDown = reason;
    this.downSince = Date.now();
    this.put({ kind: "disconnected", reason: reason.message, code: reason.code });
  }

  /** @param {any} message */
  take(message) {
    if (message.gap) {
      const { lost, first, last } = message.gap;
      const reason = this.durable === undefined ? "this client was too slow"
        : "more than journal.backlog_bytes waited for this durable subscription";
      this.tellLost({ kind: "gap", reason, lost: lost ?? null, first: first ? placeOf(first) : null, last: last ? placeOf(last) : null });
    } else if (message.left_out) {
      this.leaveOut(message.left_out.rows);
    } else if (message.leaving) {
      this.put({ kind: "leaving", grace: message.leaving.grace_ms / 1000 });
    } else if (message.type !== undefined) {
      this.takeEvent(eventOf(message));
    }
  }

  /**
   * A durable subscription tells on each connection of all that it has lost since the last acknowledgement.
   * @param {import("./events.js").Gap} gap
   */
  tellLost(gap) {
    const { told } = this;
    if (this.durable !== undefined && gap.first && gap.last) {
      const isKnown = [this.seen, told?.last ?? NOWHERE].some((place) => !isBefore(place, /** @type {any} */ (gap.last)));
      if (isKnown) return;
      this.told = { ...gap };
      const goesOn = told?.first && !isBefore(told.first, gap.first) && !isBefore(gap.first, told.first);
      if (goesOn && gap.lost !== null) gap.lost -= told.lost ?? 0;
    }
    this.lost += gap.lost ?? 0;
    this.put(gap);
  }

  /** @param {import("./events.js").Event} event */
  takeEvent(event) {
    if (this.durable !== undefined) {
      this.isSkipping ||= this.waitingEvents >= this.settings.receiveEvents;
      if (this.isSkipping || !isBefore(this.seen, event.place)) return;
      this.seen = event.place;
    }
    if (this.waitingEvents < this.settings.receiveEvents) {
      this.received += 1;
      this.waitingEvents += 1;
      this.put(event);
      return;
    }
    if (this.most !== undefined) {
      this.leaveOut(1);
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

  /** @param {number} rows */
  leaveOut(rows) {
    const last = this.items[this.items.length - 1];
    if (last?.kind === "left_out" && this.items.length > this.head) last.rows += rows;
    else this.put({ kind: "left_out", rows });
  }

  /** @param {Item} item */
  put(item) {
    if (this.ended) return;
    this.items.push(item);
    this.wake?.();
  }

  end() {
    this.ended = true;
    for (const settle of this.settling.splice(0)) settle();
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
    if (item.kind === "event") {
      this.waitingEvents -= 1;
      this.allow();
      if (this.isSkipping && 2 * this.waitingEvents <= this.settings.receiveEvents) void this.resume();
    }
    if (this.head > 1024 && 2 * this.head > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  /** Asks the server for the events that were skipped: it has all that are not acknowledged. */
  async resume() {
    const connection = this.link.connection;
    if (this.isResuming || !connection) return;
    this.isResuming = true;
    try {
      await new Promise((resolve, reject) => connection.ask({ unsubscribe: 0 }, resolve, reject));
      await this.ask(connection, 0, false);
    } catch (error) {
      // A lost connection comes back, and subscribes again by itself.
      if (!connection.failure) connection.end(error instanceof GorgoError ? error : new ConnectError(String(error)));
    } finally {
      this.isResuming = false;
    }
  }

  /** Allows the server as many events again as the reader took, once that is half of what may come ahead. */
  allow() {
    this.taken += 1;
    const connection = this.link.connection;
    if (this.credit === undefined || !connection || 2 * this.taken < this.credit) return;
    connection.send(JSON.stringify({ credit: { subscription: 0, rows: this.taken } }));
    this.taken = 0;
  }

  /**
   * The reader is done with everything up to this event or place, and it need not come again. It returns at once. The
   * server is told, one acknowledgement at a time that stands for those before it, and told again on a new connection
   * where it has not answered. `acknowledged` is how far its answers go; `drain` waits for the last one.
   * @param {import("./events.js").Event | Place} upto
   */
  acknowledge(upto) {
    if (this.durable === undefined) {
      throw new GorgoError("option", "only a durable subscription is acknowledged", "subscribe(text, {durable: NAME})");
    }
    const place = "place" in upto ? upto.place : upto;
    // Of the journal before, where this place meant something else.
    if (this.begunAnew && isBefore(this.seen, place)) return;
    if (isBefore(this.finished, place)) this.finished = place;
    if (this.link.connection) this.sendAcknowledgement(this.link.connection);
  }

  /** @param {import("./connection.js").Connection} connection */
  sendAcknowledgement(connection) {
    if (this.isAcknowledging || !isBefore(this.acknowledged, this.finished) || connection.failure) return;
    this.isAcknowledging = true;
    const place = this.finished;
    connection.ask({ acknowledge: this.durable, id: `${place.root}-${place.ordinal}` }, () => {
      this.isAcknowledging = false;
      this.acknowledged = place;
      for (const settle of this.settling.splice(0)) settle();
      this.sendAcknowledgement(connection);
    }, (error) => {
      if (connection.failure) return; // the next connection sends it again
      this.failure = error;
      this.end();
    });
  }

  /** Resolves when the server has answered the last acknowledgement, or the stream has ended. */
  async settled() {
    while (isBefore(this.acknowledged, this.finished) && !this.ended) {
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => this.settling.push(resolve));
    }
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
    await this.settled();
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
