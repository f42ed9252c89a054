/** Error for a consumer that is not called: it may not be, or a variable for the call is missing. */
export class NotCalled extends Error {
  override readonly name = "NotCalled";
}

/**
 * Reason for which a consumer took no delivery.
 *
 * - `gone`: the call failed.
 * - `refuses`: the consumer is there, and does not understand the call.
 * - `notCalled`: the consumer was not called (`NotCalled`).
 */
export type AbsenceKind = "gone" | "refuses" | "notCalled";

/** Outcome of a delivery that no consumer took. A class, because no answer of another Worker can be one. */
export class Absence {
  readonly kind: AbsenceKind;
  /** Text for people. */
  readonly reason: string;

  constructor(kind: AbsenceKind, reason: string) {
    this.kind = kind;
    this.reason = reason;
  }

  /** Makes the absence from the error of a call. */
  static from(error: unknown): Absence {
    return error instanceof NotCalled
      ? new Absence("notCalled", error.message)
      : new Absence("gone", String(error).replace(/^\w*Error: /, ""));
  }

  /** Makes the text about the failed delivery, for people. */
  failure(): string {
    switch (this.kind) {
      case "gone":
        // The reason of an endpoint is a sentence already, such as "it cannot be reached".
        return this.reason.startsWith("it ") ? this.reason : `the consumer was not there: ${this.reason}`;
      case "refuses":
        return this.reason;
      case "notCalled":
        return `it cannot be called: ${this.reason}`;
    }
  }

  /** Makes the text of the log about the consumer, to follow its name. */
  announcement(): string {
    switch (this.kind) {
      case "gone":
        return "is not running, its messages wait";
      case "refuses":
        return `does not take its messages, which wait: ${this.reason}`;
      case "notCalled":
        return `cannot be called: ${this.reason}; its messages wait`;
    }
  }
}
