import { GorgoError, OutcomeUnknown, Refused, ServerError } from "./errors.js";
import { serverError, TOO_LARGE } from "./connection.js";

// The server names the first 64 refused rows of a message. Publications that share a message have no more rows
// together, so that each learns what became of it.
const SHARED_ROWS = 64;
const MESSAGE_BYTES = 256 << 10; // of events in one message, about; the server's limit is http.max_message_bytes

/** A publication whose outcome may still be open. */
export class Publication {
  constructor() {
    /** @type {import("./errors.js").Published} */
    this.published = { accepted: 0, refused: 0, duplicates: 0, refusals: [] };
    /** @type {GorgoError | null} */
    this.error = null;
    this.done = false;
    this.seen = false; // somebody waits for the outcome
    this.open = 0; // messages without an outcome, and one while more may come
    /** @type {(() => void)[]} */
    this.waiters = [];
  }

  /**
   * The outcome; it rejects with Refused or another GorgoError.
   * @returns {Promise<import("./errors.js").Published>}
   */
  outcome() {
    this.seen = true;
    return new Promise((resolve, reject) => {
      this.whenDone(() => {
        const failure = this.failure();
        if (failure) reject(failure);
        else resolve(this.published);
      });
    });
  }

  failure() {
    return this.error ?? (this.published.refused > 0 ? new Refused(this.published) : null);
  }

  /** @param {() => void} waiter */
  whenDone(waiter) {
    if (this.done) waiter();
    else this.waiters.push(waiter);
  }

  /**
   * One of the expected messages has an outcome.
   * @param {GorgoError | null} error
   */
  settle(error) {
    this.error ??= error;
    this.open -= 1;
    if (this.open > 0) return;
    this.done = true;
    for (const waiter of this.waiters) waiter();
    this.waiters = [];
  }
}

/**
 * The rows of a message that belong to one publication: from row `first` of the message on, `rows` of them, which are
 * the publication's from row `offset` on.
 * @typedef {{publication: Publication, first: number, rows: number, offset: number}} Part
 * @typedef {{number: number, head: string, text: string, rows: number, parts: Part[], isNumbered?: boolean,
 *   wasSent?: boolean}} Piece isNumbered: by the user, who relies on it
 */

/**
 * @param {Piece} piece
 * @param {number} producer
 */
function messageOf({ number, head, text }, producer) {
  return `{"publish":[${text}],"producer":${producer},"sequence":${number},"request":${number}${head}}`;
}

/**
 * @param {Piece} piece
 * @param {any} ack
 */
function applyAck(piece, ack) {
  for (const { publication, first, rows, offset } of piece.parts) {
    const published = publication.published;
    if (ack.duplicate) {
      published.duplicates += rows;
      continue;
    }
    const named = ack.errors.filter((/** @type {any} */ e) => e.row >= first && e.row < first + rows);
    const refused = rows === piece.rows ? ack.refused : named.length;
    published.refused += refused;
    published.accepted += rows - refused;
    for (const { row, reason, hint } of named) published.refusals.push({ row: row - first + offset, reason, hint });
  }
}

/**
 * Numbers publications, keeps them until their outcome is known, and sends them again where it is not. The numbers
 * rise in the order of `outstanding`, which is that in which messages are sent on every connection. So the server
 * applies each once, however often it comes.
 */
export class Publisher {
  /**
   * @param {number} bound of the characters of all outstanding messages
   * @param {number} [producer] without one it is random
   */
  constructor(bound, producer) {
    this.bound = bound;
    this.isRandom = producer === undefined; // such a producer has published nothing before
    this.producer = producer ?? Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1)) + 1;
    this.sequence = 0;
    this.bytes = 0;
    this.repeated = 0;
    this.unanswered = 0; // messages on this connection
    /** @type {Map<number, Piece>} */
    this.outstanding = new Map();
    /** @type {Map<number, Piece>} */
    this.deferred = new Map(); // outstanding; the server had no memory for them or those before, and did nothing
    this.together = 0; // so many of them were sent at once when the server last had room for all of those
    /** @type {{publication: Publication, texts: string[]}[]} */
    this.shared = [];
    this.sharedRows = 0;
    this.sharedHead = "";
    this.scheduled = false;
    /** @type {(() => void)[]} */
    this.waiters = [];
    /** @type {import("./connection.js").Connection | null} */
    this.connection = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retry = undefined;
  }

  get isFull() {
    return this.bytes >= this.bound;
  }

  /** Resolves when something has changed: there is room again, or nothing is outstanding. */
  change() {
    return new Promise((/** @type {(value?: unknown) => void} */ resolve) => this.waiters.push(resolve));
  }

  /**
   * Takes events as texts. A few wait until the loop comes round, to share a message with others.
   * @param {Publication} publication
   * @param {string[]} texts
   * @param {"accepted" | "processed" | "durable"} ack
   * @param {number} [sequence]
   */
  add(publication, texts, ack, sequence) {
    const head = ack === "accepted" ? "" : `,"ack":"${ack}"`;
    if (sequence !== undefined) {
      this.addNumbered(publication, texts, head, sequence);
      return;
    }
    if (!this.isRandom) {
      throw new GorgoError("event", "a producer is named, and the publication names no sequence number",
        "name one above all numbers of this producer, which the server would take for repetitions, or leave out the producer");
    }
    if (head !== this.sharedHead || this.sharedRows + texts.length > SHARED_ROWS) this.shareOut();
    publication.open += 1;
    if (texts.length >= SHARED_ROWS) {
      this.cut(publication, texts, head);
      publication.settle(null);
      return;
    }
    this.sharedHead = head;
    this.shared.push({ publication, texts });
    this.sharedRows += texts.length;
    if (this.scheduled) return;
    this.scheduled = true;
    setTimeout(() => this.shareOut(), 0);
  }

  /**
   * Takes a publication that has to be one message, so that it is the same one when it is repeated.
   * @param {Publication} publication
   * @param {string[]} texts
   * @param {string} head
   * @param {number} sequence
   */
  addNumbered(publication, texts, head, sequence) {
    this.shareOut();
    if (!(Number.isSafeInteger(sequence) && sequence > this.sequence)) {
      throw new GorgoError("event", `the sequence number ${sequence} does not follow ${this.sequence}`,
        "each publication of a producer has a larger number than those before");
    }
    if (texts.length === 0 || texts.reduce((sum, text) => sum + text.length, 0) > MESSAGE_BYTES) {
      throw new GorgoError("event", "a publication with a sequence number takes one message", "publish fewer events together");
    }
    this.sequence = sequence - 1;
    this.queue(texts, [{ publication, first: 0, rows: texts.length, offset: 0 }], head, true);
  }

  /** Makes a message of the few events that wait. */
  shareOut() {
    this.scheduled = false;
    const shared = this.shared;
    this.shared = [];
    this.sharedRows = 0;
    if (shared.length === 0) return;
    /** @type {Part[]} */
    const parts = [];
    /** @type {string[]} */
    const texts = [];
    for (const few of shared) {
      parts.push({ publication: few.publication, first: texts.length, rows: few.texts.length, offset: 0 });
      texts.push(...few.texts);
    }
    if (texts.reduce((sum, text) => sum + text.length, 0) > MESSAGE_BYTES) {
      for (const few of shared) this.cut(few.publication, few.texts, this.sharedHead);
    } else {
      this.queue(texts, parts, this.sharedHead);
    }
    for (const { publication } of shared) publication.settle(null);
  }

  /**
   * Sends events in as many messages as they need.
   * @param {Publication} publication
   * @param {string[]} texts
   * @param {string} head
   */
  cut(publication, texts, head) {
    let first = 0;
    let bytes = 0;
    for (let row = 0; row <= texts.length; ++row) {
      const size = texts[row]?.length ?? 0;
      if (row > first && (row === texts.length || bytes + size > MESSAGE_BYTES)) {
        this.queue(texts.slice(first, row), [{ publication, first: 0, rows: row - first, offset: first }], head);
        first = row;
        bytes = 0;
      }
      bytes += size;
    }
  }

  /**
   * @param {string[]} texts
   * @param {Part[]} parts
   * @param {string} head
   * @param {boolean} [isNumbered]
   */
  queue(texts, parts, head, isNumbered = false) {
    const piece = { number: ++this.sequence, head, text: texts.join(","), rows: texts.length, parts, isNumbered };
    for (const part of parts) part.publication.open += 1;
    this.outstanding.set(piece.number, piece);
    this.bytes += piece.text.length;
    // Nothing overtakes what the server had no memory for, so that the turn of those messages comes.
    if (this.deferred.size > 0) this.deferred.set(piece.number, piece);
    else this.send(piece);
  }

  /** @param {Piece} piece */
  send(piece) {
    if (!this.connection) return;
    this.unanswered += 1;
    if (piece.wasSent) this.repeated += 1;
    piece.wasSent = true;
    this.connection.send(messageOf(piece, this.producer));
  }

  /**
   * Sends again all that has no outcome.
   * @param {import("./connection.js").Connection} connection
   */
  connected(connection) {
    this.connection = connection;
    this.unanswered = 0;
    this.deferred.clear();
    for (const piece of this.outstanding.values()) this.send(piece);
  }

  /** @param {GorgoError} reason */
  disconnected(reason) {
    this.connection = null;
    clearTimeout(this.retry);
    this.retry = undefined;
    if (reason.code === TOO_LARGE) this.giveUpLargest();
  }

  /**
   * A message was above the server's limit, so the largest of those under way is, too. The server has taken nothing of it,
   * and never will.
   */
  giveUpLargest() {
    let largest = null;
    let most = 0;
    for (const piece of this.outstanding.values()) {
      const bytes = this.deferred.has(piece.number) ? 0 : new TextEncoder().encode(messageOf(piece, this.producer)).length;
      if (bytes <= most) continue;
      most = bytes;
      largest = piece;
    }
    if (!largest) return;
    this.forget(largest, new ServerError(TOO_LARGE, `a message of ${most} bytes is above http.max_message_bytes of the server`,
      largest.rows === 1 ? "publish smaller events, or have http.max_message_bytes raised"
        : "publish fewer or smaller events together, or have http.max_message_bytes raised"));
  }

  /**
   * The server's answer to a message.
   * @param {any} answer
   */
  take(answer) {
    const piece = this.outstanding.get(answer.acknowledge ?? answer.request);
    if (!piece) return;
    this.unanswered -= 1;
    if (!answer.error) this.applied(piece, answer);
    else if (answer.error.code === "overloaded") this.defer(piece);
    // A stopping server did not carry it out: the next one gets it.
    else if (answer.error.code !== "stopping") this.forget(piece, serverError(answer.error));
    // Behind a later message that is under way, the server would take these for applied.
    if (this.unanswered > 0 || this.deferred.size === 0) return;
    if (this.together > 0) this.sendDeferred();
    else this.retry ??= setTimeout(() => this.sendDeferred(), 100);
  }

  /** @param {Piece} piece */
  defer(piece) {
    this.deferred.set(piece.number, piece);
    this.together = 0;
  }

  /**
   * @param {Piece} piece
   * @param {any} ack
   */
  applied(piece, ack) {
    applyAck(piece, ack);
    this.forget(piece, null);
    for (const earlier of [...this.deferred.values()].filter((p) => p.number < piece.number)) {
      this.overtaken(earlier, ack.duplicate);
    }
  }

  /**
   * A later message was applied, so the server takes this one's number for applied, too.
   * @param {Piece} piece
   * @param {boolean} byDuplicate by a connection before this one, which may have carried this message, too
   */
  overtaken(piece, byDuplicate) {
    if (byDuplicate) {
      this.forget(piece, new OutcomeUnknown("the server was short of memory while the connection was renewed"));
      return;
    }
    if (piece.isNumbered) {
      this.forget(piece, new ServerError("overloaded", "the server was short of memory for it, and has applied a later one",
        "publish it under a new number"));
      return;
    }
    this.outstanding.delete(piece.number);
    this.deferred.delete(piece.number);
    piece.number = ++this.sequence;
    this.outstanding.set(piece.number, piece);
    this.deferred.set(piece.number, piece);
  }

  /** Sends a few, then twice as many each time: what the server has no room for would only cost it time. */
  sendDeferred() {
    this.retry = undefined;
    this.together = Math.max(1, 2 * this.together);
    const pieces = [...this.deferred.values()].sort((a, b) => a.number - b.number).slice(0, this.together);
    for (const piece of pieces) this.deferred.delete(piece.number);
    for (const piece of pieces) this.send(piece);
  }

  /**
   * @param {Piece} piece
   * @param {GorgoError | null} error
   */
  forget(piece, error) {
    this.outstanding.delete(piece.number);
    this.deferred.delete(piece.number);
    this.bytes -= piece.text.length;
    for (const part of piece.parts) part.publication.settle(error);
    if (2 * this.bytes > this.bound) return;
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }

  /**
   * Ends all that is under way with an unknown outcome.
   * @param {GorgoError} reason
   */
  giveUp(reason) {
    this.shareOut();
    this.disconnected(reason);
    const unknown = new OutcomeUnknown(`the publication was given up: ${reason.message}`,
      "its events may have been applied");
    for (const piece of [...this.outstanding.values()]) this.forget(piece, unknown);
  }
}
