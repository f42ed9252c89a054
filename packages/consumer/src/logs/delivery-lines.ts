import {
  type DeliveryLogs,
  LOG_LINE_UNITS_MAX,
  LOG_LINES_MAX,
  LOG_UNITS_MAX,
  type LogLevel,
  type LogLine,
} from "@sluice/protocol";
import { fittedStack } from "@sluice/protocol/stack";
import { placeOfCall } from "./call-place.ts";
import { JustPrinted } from "./just-printed.ts";
import { printedText } from "./printed-text.ts";
import type { Called } from "./watch-console.ts";

/** Beginning of a stack frame. Reads no line twice, however many are empty. */
const HAS_FRAME = /\n[^\S\n]+at /;

interface LinesOptions {
  readonly now?: () => number;
  /** Whether other code of the Worker may print some of the lines. Default: false. */
  readonly isOfWorker?: boolean;
  /** Error that was printed last, which other deliveries may share. Default: one of its own. */
  readonly justPrinted?: JustPrinted;
  /** Makes the name of the delivery, for the terminal. Default: it has none. */
  readonly name?: () => string | null;
}

/** Lines that the handler of one delivery prints. */
export class DeliveryLines {
  readonly #now: () => number;
  readonly #beganMs: number;
  readonly #isOfWorker: boolean;
  readonly #makeName: () => string | null;
  readonly #justPrinted: JustPrinted;
  readonly #lines: LogLine[] = [];
  #units = 0;
  #isFull = false;
  /** Last line of level `error`, if it is beyond the limits. */
  #lateError: LogLine | null = null;
  #leftOut = 0;
  #mixed = 0;
  #isMuted = false;

  constructor({ now = Date.now, isOfWorker = false, justPrinted, name }: LinesOptions = {}) {
    this.#isOfWorker = isOfWorker;
    this.#now = now;
    this.#beganMs = now();
    this.#makeName = name ?? (() => null);
    this.#justPrinted = justPrinted ?? new JustPrinted();
  }

  /** Name of the delivery, for the terminal; `null` while what is printed is not the handler's. */
  get name(): string | null {
    return this.#isMuted ? null : this.#makeName();
  }

  /** Whether what is printed is not the handler's. */
  get isMuted(): boolean {
    return this.#isMuted;
  }

  /**
   * Takes a call of the console.
   *
   * @param called function that was called: the place of the call stands behind an error that has none. Default: none.
   */
  add(level: LogLevel, args: readonly unknown[], called?: Called): void {
    if (this.#isMuted) return;
    if (this.#isFull && level !== "error") {
      this.#leftOut += 1;
      return;
    }
    const text = level === "error" && called !== undefined ? errorText(args, called) : printedText(args);
    const line = { afterMs: Math.max(0, this.#now() - this.#beganMs), level, text };
    if (level === "error") this.#justPrinted.note(line.text);
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
    try {
      run();
    } finally {
      this.#isMuted = false;
    }
  }

  /** Takes the first line of the error that was printed right before; `undefined` if there is none. */
  takeJustPrinted(): string | undefined {
    return this.#justPrinted.take();
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
}

/** Writes a printed error with its stack, or with the place where it is printed if it has none. */
function errorText(args: readonly unknown[], called: Called): string {
  const text = printedText(args);
  return HAS_FRAME.test(text) ? text : fittedStack(`${text}${placeOfCall(called)}`, LOG_LINE_UNITS_MAX);
}
