/** The failure of a consumer that is not called at all: it may not be, or lacks what it is called with. */
export class NotCalled extends Error {
  override readonly name = "NotCalled";
}

/**
 * Why nobody took a delivery.
 *
 * - `gone`: the call failed.
 * - `refuses`: somebody is there, and does not understand us.
 * - `notCalled`: nobody was asked (`NotCalled`).
 */
export type AbsenceKind = "gone" | "refuses" | "notCalled";

/** A delivery that nobody took: there is no result. A class, because no answer of another Worker can be one. */
export class Absence {
  readonly kind: AbsenceKind;
  /** For people. */
  readonly reason: string;

  constructor(kind: AbsenceKind, reason: string) {
    this.kind = kind;
    this.reason = reason;
  }

  /** The absence that a call's error says. */
  static from(error: unknown): Absence {
    return error instanceof NotCalled
      ? new Absence("notCalled", error.message)
      : new Absence("gone", String(error).replace(/^\w*Error: /, ""));
  }

  /** The failure of the delivery, for people. */
  failure(): string {
    switch (this.kind) {
      case "gone":
        return `nobody was there: ${this.reason}`;
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
