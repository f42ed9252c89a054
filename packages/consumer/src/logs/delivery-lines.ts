import {
  type DeliveryLogs,
  LOG_LINES_MAX,
  LOG_UNITS_MAX,
  type LogLevel,
  type LogLine,
} from "@sluice/protocol";
import { printedText } from "./printed-text.ts";

/** Units of the first line of an error that goes with a retry. */
export const PRINTED_UNITS_MAX = 200;

/** Lines that the handler of one delivery prints. */
export class DeliveryLines {
  readonly #now: () => number;
  readonly #beganMs: number;
  readonly #isOfWorker: boolean;
  readonly #makeName: () => string | null;
  readonly #lines: LogLine[] = [];
  #units = 0;
  #isFull = false;
  /** Last line of level `error`, if it is beyond the limits. */
  #lateError: LogLine | null = null;
  #leftOut = 0;
  #mixed = 0;
  /** First line of an error that was printed in this run of synchronous code, until a retry takes it. */
  #justPrinted: string | null = null;
  #isMuted = false;

  /**
   * @param isOfWorker whether other code of the Worker may print some of the lines.
   * @param makeName makes the name of the delivery, for the terminal. Default: it has none.
   */
  constructor(isOfWorker: boolean, now: () => number = Date.now, makeName: () => string | null = () => null) {
    this.#isOfWorker = isOfWorker;
    this.#now = now;
    this.#beganMs = now();
    this.#makeName = makeName;
  }

  /** Name of the delivery, for the terminal; `null` while what is printed is not the handler's. */
  get name(): string | null {
    return this.#isMuted ? null : this.#makeName();
  }

  /** Takes a call of the console. */
  add(level: LogLevel, args: readonly unknown[]): void {
    if (this.#isMuted) return;
    if (this.#isFull && level !== "error") {
      this.#leftOut += 1;
      return;
    }
    const line = { afterMs: Math.max(0, this.#now() - this.#beganMs), level, text: printedText(args) };
    if (level === "error") this.#noteError(line.text);
    this.#isFull ||= this.#lines.length >= LOG_LINES_MAX || this.#units + line.text.length > LOG_UNITS_MAX;
    if (!this.#isFull) {
      this.#units += line.text.length;
      this.#lines.push(line);
    } else if (level === "error") {
      if (this.#lateError !== null) this.#leftOut += 1;
      this.#lateError = line;
    } else {
      this.#leftOut += 1;
    }
  }

  /** Counts a call of the console while other deliveries ran, which may have made it. */
  addMixed(): void {
    if (!this.#isMuted) this.#mixed += 1;
  }

  /** Runs code whose lines are not the handler's. */
  mute(run: () => void): void {
    this.#isMuted = true;
    run();
    this.#isMuted = false;
  }

  /**
   * Takes the first line of the error that was printed in the same run of synchronous code: no other message of the
   * batch can have been worked on in between. `undefined` if there is none.
   */
  takeJustPrinted(): string | undefined {
    const printed = this.#justPrinted ?? undefined;
    this.#justPrinted = null;
    return printed;
  }

  /** Returns the lines so far; `undefined` if nothing was printed. */
  read(): DeliveryLogs | undefined {
    const lines = this.#lateError === null ? [...this.#lines] : [...this.#lines, this.#lateError];
    if (lines.length + this.#mixed === 0) return undefined;
    return {
      lines,
      ...(this.#leftOut === 0 ? {} : { leftOut: this.#leftOut }),
      ...(this.#mixed === 0 ? {} : { mixed: this.#mixed }),
      ...(this.#isOfWorker ? { ofWorker: true } : {}),
    };
  }

  #noteError(text: string): void {
    if (this.#justPrinted === null) queueMicrotask(() => this.takeJustPrinted());
    this.#justPrinted = text.split("\n", 1)[0]?.slice(0, PRINTED_UNITS_MAX) ?? "";
  }
}
