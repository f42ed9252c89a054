/** Units of the first line of an error that goes with a retry. */
export const PRINTED_UNITS_MAX = 200;

/**
 * First line of an error that was printed in this run of synchronous code, until a retry takes it. No other message, of
 * this delivery or of another one, can have been worked on in between. So deliveries that nothing else tells apart may
 * share one.
 */
export class JustPrinted {
  #line: string | null = null;

  note(text: string): void {
    if (this.#line === null) queueMicrotask(() => this.take());
    this.#line = text.split("\n", 1)[0]?.slice(0, PRINTED_UNITS_MAX) ?? "";
  }

  /** Takes the line; `undefined` if there is none. */
  take(): string | undefined {
    const line = this.#line ?? undefined;
    this.#line = null;
    return line;
  }
}
