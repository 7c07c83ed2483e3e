// Every error has a `code` for programs, a message for people, and a `hint` that says what to do.

export class GorgoError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {string} [hint]
   */
  constructor(code, message, hint = "") {
    super(message);
    this.name = new.target.name;
    /** @type {string} */
    this.code = code;
    /** @type {string} */
    this.hint = hint;
  }

  toString() {
    return `${this.name}: ${this.message}${this.hint ? ` (${this.hint})` : ""}`;
  }
}

/** There is no connection to the server. */
export class ConnectError extends GorgoError {
  /**
   * @param {string} message
   * @param {string} [hint]
   */
  constructor(message, hint = "") {
    super("connect", message, hint);
  }
}

/** The client or the subscription was closed. */
export class ClosedError extends GorgoError {
  constructor(message = "the client is closed") {
    super("closed", message);
  }
}

/** The server answered with an error; `code` is the server's, such as `not_found`. */
export class ServerError extends GorgoError {}

/**
 * It is not known whether the server has carried out what was asked. A publication is still being sent again, under
 * the number that lets the server recognise it, until the client is closed: do not publish its events a second time.
 */
export class OutcomeUnknown extends GorgoError {
  /**
   * @param {string} message
   * @param {string} [hint]
   */
  constructor(message, hint = "") {
    super("unknown", message, hint);
  }
}

/**
 * What is wrong or doubtful about a text.
 * @typedef {{severity: "error" | "warning", message: string, hint: string, line: number, column: number,
 *   length: number}} Diagnostic
 */

/** The text of a rule or of a subscription has errors, which `diagnostics` lists. */
export class InvalidText extends GorgoError {
  /** @param {Diagnostic[]} diagnostics */
  constructor(diagnostics) {
    const first = diagnostics.find((d) => d.severity === "error");
    super("text", first ? `${first.line}:${first.column}: ${first.message}` : "the text has errors", first?.hint);
    /** @type {Diagnostic[]} */
    this.diagnostics = diagnostics;
  }
}

/**
 * Why the server refused one event. `row` counts from 0 within the publication.
 * @typedef {{row: number, reason: string, hint: string}} Refusal
 */

/**
 * What became of a publication. `duplicates` counts events of messages that the server had applied before, when they
 * were sent again after a lost connection; it does not say a second time which of them it refused.
 * @typedef {{accepted: number, refused: number, duplicates: number, refusals: Refusal[]}} Published
 */

/** The server refused events. Those that it accepted stay accepted; `published` has all numbers. */
export class Refused extends GorgoError {
  /** @param {Published} published */
  constructor(published) {
    const first = published.refusals[0];
    const total = published.accepted + published.refused + published.duplicates;
    const why = first ? `; row ${first.row}: ${first.reason}` : "";
    super("refused", `${published.refused} of ${total} events were refused${why}`, first?.hint);
    /** @type {Published} */
    this.published = published;
  }
}
