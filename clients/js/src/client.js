import { ClosedError, GorgoError, OutcomeUnknown } from "./errors.js";
import { eventText } from "./events.js";
import { Http } from "./http.js";
import { Backoff, Link } from "./link.js";
import { Publication, Publisher } from "./publisher.js";
import { Subscription } from "./subscription.js";

/**
 * @typedef {import("./events.js").Publishable} Publishable
 * @typedef {import("./errors.js").Published} Published
 * @typedef {import("./errors.js").Diagnostic} Diagnostic
 * @typedef {Record<string, any>} Info what the server tells of a rule or a type, as docs/http.md and its openapi.json say
 */

/** @typedef {{processed?: boolean, durable?: boolean}} PublishOptions what the outcome waits for, see `Client.publish` */

/**
 * What the server is to wait for with its answer.
 * @param {boolean} processed
 * @param {boolean} durable
 */
function ackOf(processed, durable) {
  if (processed && durable) {
    throw new GorgoError("option", "an outcome comes either when the composites are on their way or when the events are durable",
      "choose processed or durable");
  }
  return durable ? "durable" : processed ? "processed" : "accepted";
}

/**
 * Throws unless these are members with a name each.
 * @template T
 * @param {T} value
 * @param {string} what
 * @returns {T}
 */
function columnsOf(value, what) {
  if (typeof value === "object" && value !== null && !(Symbol.iterator in value)) return value;
  throw new GorgoError("event", `${what} has no columns`, "write {Temp: {area: [..], value: [..]}}");
}

/**
 * A client of one server. It opens a WebSocket with the first publication, and one for each subscription, so that a slow
 * reader holds up nothing else. Lost connections come back by themselves.
 */
export class Client {
  /**
   * @param {string} address
   * @param {import("./options.js").Settings} settings
   */
  constructor(address, settings) {
    this.settings = settings;
    this.http = new Http(address, settings);
    this.publisher = new Publisher(settings.publishBytes, settings.producer);
    /** @type {Subscription[]} */
    this.subscriptions = [];
    /** @type {Publication[]} */
    this.unseen = []; // of `send`: failed, and nobody was told
    /** @type {Published} */
    this.sums = { accepted: 0, refused: 0, duplicates: 0, refusals: [] };
    this.connections = 0;
    this.closed = false;
    this.link = new Link(this.http, {
      message: (message) => this.publisher.take(message),
      up: (connection) => {
        this.connections += 1;
        this.publisher.connected(connection);
      },
      down: (reason) => this.publisher.disconnected(reason),
      ended: (reason) => this.publisher.giveUp(reason),
    });
  }

  /** Resolves when the server has answered; rejects with the reason when it does not within the timeout, or refuses to. */
  async reach() {
    const deadline = Date.now() + this.settings.timeout * 1000;
    const backoff = new Backoff(this.settings);
    while (true) {
      try {
        await this.http.reach();
        return;
      } catch (error) {
        if (Date.now() > deadline || this.link.isFinal(/** @type {GorgoError} */ (error))) throw error;
      }
      await backoff.pause();
    }
  }

  // Publishing

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
  async publish(events, { processed = false, durable = false, sequence, timeout = this.settings.timeout } = {}) {
    const publication = await this.hand(events, ackOf(processed, durable), timeout, sequence);
    this.publisher.shareOut();
    await this.inTime(publication, timeout);
    return publication.outcome();
  }

  /**
   * Publishes without waiting for the outcome; it waits only while `publishBytes` are without one. `flush` and
   * `drain` reject with what went wrong with those whose `outcome()` nobody asked for.
   * @param {Publishable | Publishable[]} events
   * @param {PublishOptions & {sequence?: number}} options
   * @returns {Promise<Publication>}
   */
  async send(events, { processed = false, durable = false, sequence } = {}) {
    const publication = await this.hand(events, ackOf(processed, durable), this.settings.timeout, sequence);
    this.watch(publication);
    return publication;
  }

  /**
   * Publishes events by columns: {Temp: {area: [..], value: [..], timestamp: [..]}}. undefined and null mean that a
   * row lacks the attribute.
   * @param {Record<string, Record<string, ArrayLike<any>>>} types
   * @param {PublishOptions & {sequence?: number, timeout?: number}} options
   * @returns {Promise<Published>}
   */
  async publishColumns(types, options) {
    /** @type {Publishable[]} */
    const events = [];
    for (const [type, columns] of Object.entries(columnsOf(types, "what is published"))) {
      columnsOf(columns, `type ${type}`);
      const { timestamp, ...attributes } = columns;
      const names = Object.keys(attributes);
      const rows = (attributes[names[0] ?? ""] ?? timestamp)?.length ?? 0;
      for (const [name, column] of Object.entries(columns)) {
        if (column?.length === rows) continue;
        throw new GorgoError("event", `column '${name}' of ${type} has ${column?.length ?? "no"} values, not ${rows}`,
          "all columns of a type have as many, and undefined stands where a row lacks the attribute");
      }
      for (let row = 0; row < rows; ++row) {
        const values = Object.fromEntries(names.map((name) => [name, attributes[name]?.[row]]));
        events.push({ type, attributes: values, ...(timestamp && { timestamp: timestamp[row] }) });
      }
    }
    return this.publish(events, options);
  }

  /**
   * Waits until all publications have their outcome; resolves to the sums of those of `send` since the last flush.
   * @param {number} [timeout] seconds
   * @returns {Promise<Published>}
   */
  async flush(timeout = this.settings.timeout) {
    this.publisher.shareOut();
    const deadline = Date.now() + timeout * 1000;
    while (this.publisher.outstanding.size > 0) {
      if (!(await this.change(deadline))) {
        throw new OutcomeUnknown(`${this.publisher.outstanding.size} messages have no outcome after ${timeout} s`, this.whyDown());
      }
    }
    const sums = this.sums;
    this.sums = { accepted: 0, refused: 0, duplicates: 0, refusals: [] };
    const failed = this.unseen.find((publication) => !publication.seen);
    this.unseen = [];
    if (failed) await failed.outcome();
    return sums;
  }

  /**
   * @param {Publishable | Publishable[]} events
   * @param {"accepted" | "processed" | "durable"} ack
   * @param {number} timeout
   * @param {number} [sequence]
   */
  async hand(events, ack, timeout, sequence) {
    if (this.closed) throw new ClosedError();
    this.link.start();
    if (this.link.closed) throw this.link.failure ?? new ClosedError();
    const texts = (Array.isArray(events) ? events : [events]).map(eventText);
    const deadline = Date.now() + timeout * 1000;
    while (this.publisher.isFull) {
      if (!(await this.change(deadline))) {
        throw new GorgoError("timeout", `${this.publisher.bytes} bytes of publications have no outcome for ${timeout} s; ` +
          "nothing of this one was sent", this.whyDown());
      }
    }
    const publication = new Publication();
    this.publisher.add(publication, texts, ack, sequence);
    return publication;
  }

  /**
   * False: nothing changed before the deadline.
   * @param {number} deadline
   * @returns {Promise<boolean>}
   */
  change(deadline) {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), Math.max(0, deadline - Date.now()));
      void this.publisher.change().then(() => {
        clearTimeout(late);
        resolve(true);
      });
    });
  }

  /**
   * @param {Publication} publication
   * @param {number} timeout
   * @returns {Promise<void>}
   */
  inTime(publication, timeout) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.watch(publication);
        reject(new OutcomeUnknown(`the publication has no outcome after ${timeout} s`, this.whyDown()));
      }, timeout * 1000);
      publication.whenDone(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  /**
   * Keeps account of a publication that nobody may wait for.
   * @param {Publication} publication
   */
  watch(publication) {
    publication.whenDone(() => {
      const { accepted, refused, duplicates, refusals } = publication.published;
      this.sums.accepted += accepted;
      this.sums.refused += refused;
      this.sums.duplicates += duplicates;
      if (!publication.failure() || this.unseen.length >= 1000) return;
      this.sums.refusals.push(...refusals);
      this.unseen.push(publication);
    });
  }

  whyDown() {
    return this.link.connection ? "the server is connected, but does not answer"
      : `there is no connection: ${this.link.failure?.message ?? "the server has not answered yet"}`;
  }

  // Subscribing

  /**
   * Subscribes to a type and conditions: `Fire`, `Fire(measuredTemp > 50)`, `*`. Every event that is placed after
   * this resolves and matches will be in the stream, or a notice in its place.
   * @param {string} text
   * @param {import("./subscription.js").SubscribeOptions} [options]
   * @returns {Promise<Subscription>}
   */
  async subscribe(text, options = {}) {
    if (this.closed) throw new ClosedError();
    const find = async () => (await this.durables()).find((info) => info.name === options.durable);
    const subscription = new Subscription(this.http, text, options, find);
    this.subscriptions = [...this.subscriptions.filter((each) => !each.ended), subscription];
    try {
      await subscription.open();
    } catch (error) {
      subscription.close();
      throw error;
    }
    return subscription;
  }

  /**
   * The durable subscriptions that this user may see.
   * @returns {Promise<Info[]>}
   */
  async durables() {
    return (await this.http.request("GET", "subscriptions")).subscriptions;
  }

  /**
   * Ends a durable subscription; what waits for it is forgotten.
   * @param {string} name
   */
  async endDurable(name) {
    await this.http.request("DELETE", `subscriptions/${encodeURIComponent(name)}`);
  }

  // Rules and types

  /**
   * What a deployment of the text would say. Nothing is deployed.
   * @param {string} name
   * @param {string} text
   * @param {{replace?: boolean}} options
   * @returns {Promise<Diagnostic[]>}
   */
  async check(name, text, { replace = false } = {}) {
    return this.http.diagnostics("POST", `rules/${encodeURIComponent(name)}/check?replace=${replace}`, text);
  }

  /**
   * Deploys the rules of a text, as a whole or not at all; resolves to warnings, rejects with InvalidText.
   * @param {string} name
   * @param {string} text
   * @param {{replace?: boolean, withHistory?: boolean}} options
   * @returns {Promise<Diagnostic[]>}
   */
  async deploy(name, text, { replace = false, withHistory = false } = {}) {
    const path = `rules/${encodeURIComponent(name)}?replace=${replace}&with_history=${withHistory}`;
    return (await this.http.request("POST", path, text)).diagnostics;
  }

  /**
   * Removes a rule by its full name, or all rules of a deployment; `deployment`: even where a rule has its name.
   * @param {string} rule
   * @param {{deployment?: boolean}} options
   */
  async remove(rule, { deployment = false } = {}) {
    await this.http.request("DELETE", `rules/${encodeURIComponent(rule)}?deployment=${deployment}`);
  }

  /**
   * Has the rule evaluated by this engine; "auto": where it costs least.
   * @param {string} rule
   * @param {string} [engine]
   */
  async pin(rule, engine = "auto") {
    await this.http.request("POST", `rules/${encodeURIComponent(rule)}/pin?engine=${encodeURIComponent(engine)}`);
  }

  /**
   * All rules, without their texts.
   * @returns {Promise<Info[]>}
   */
  async rules() {
    return (await this.http.request("GET", "rules")).rules;
  }

  /**
   * One rule, with its text.
   * @param {string} name
   * @returns {Promise<Info>}
   */
  rule(name) {
    return this.http.request("GET", `rules/${encodeURIComponent(name)}`);
  }

  /**
   * Why a rule fired or did not at its last terminators, or at the events with a timestamp.
   * @param {string} rule
   * @param {{last?: number, at?: number | Date}} options
   * @returns {Promise<Info>}
   */
  why(rule, { last = 10, at } = {}) {
    const when = at === undefined ? "" : `&at=${Number(at)}`;
    return this.http.request("GET", `rules/${encodeURIComponent(rule)}/why?last=${last}${when}`);
  }

  /**
   * The types that rules read.
   * @returns {Promise<Info[]>}
   */
  async types() {
    return (await this.http.request("GET", "types")).types;
  }

  /**
   * A request of docs/http.md that has no method of its own; `path` is what follows /v1/.
   * @param {string} method
   * @param {string} path
   * @param {string} [body]
   * @returns {Promise<any>} the answer
   */
  request(method, path, body) {
    return this.http.request(method, path, body);
  }

  /** Connections that came back, messages that were sent again, and what has no outcome yet. */
  metrics() {
    const { repeated, outstanding, bytes } = this.publisher;
    return { reconnections: Math.max(0, this.connections - 1), repeated, outstandingMessages: outstanding.size, outstandingBytes: bytes };
  }

  // The end

  /**
   * Finishes what is under way: unsubscribes, so that each stream ends behind its last event, waits for all
   * publications, and closes. Rejects with what `flush` would.
   * @param {number} [timeout] seconds
   * @returns {Promise<Published>}
   */
  async drain(timeout) {
    try {
      await Promise.all(this.subscriptions.map((subscription) => subscription.drain()));
      return await this.flush(timeout);
    } finally {
      this.end();
    }
  }

  /** Ends at once. Publications without an outcome end with OutcomeUnknown. */
  close() {
    for (const subscription of this.subscriptions) subscription.close();
    this.end();
  }

  end() {
    this.closed = true;
    this.http.closed = true;
    this.publisher.giveUp(new ClosedError());
    this.link.close();
  }
}
