import type { Printer } from "@sluice/local/report/printer";
import { plural } from "@sluice/protocol/words";
import { progressBar } from "../../progress.ts";
import type { Surroundings } from "../../surroundings.ts";

/** Time between two lines of progress where there is no terminal, in ms. */
const LINE_EVERY_MS = 10_000;

/** Counts of a move of messages. */
export class Tally {
  moved = 0;
  /** Messages that the target had stored before, as from an earlier run. */
  duplicates = 0;
  /** Ids of messages that cannot be moved, by the reason. */
  readonly left = new Map<string, Set<string>>();

  leave(why: string, id: string): void {
    const ids = this.left.get(why) ?? new Set();
    this.left.set(why, ids.add(id));
  }
}

/** Shows the progress of a move: a bar in a terminal, else a line every 10 s. */
export class MoveProgress {
  readonly #tally: Tally;
  readonly #total: number;
  readonly #printer: Printer;
  readonly #bar: ReturnType<typeof progressBar> | null;
  #shownMs = Date.now();

  /** @param total messages that the source had at the beginning. */
  constructor(
    tally: Tally,
    total: number,
    { printer, surroundings }: { readonly printer: Printer; readonly surroundings: Surroundings },
  ) {
    this.#tally = tally;
    this.#total = total;
    this.#printer = printer;
    this.#bar = surroundings.showsProgress ? progressBar(surroundings, "messages") : null;
  }

  update(): void {
    const { moved, duplicates } = this.#tally;
    if (this.#bar !== null) this.#bar.update(moved + duplicates, this.#total);
    else if (Date.now() - this.#shownMs >= LINE_EVERY_MS) {
      this.#shownMs = Date.now();
      this.#printer.warn(`Moved ${plural(moved, "message")} of about ${this.#total.toLocaleString("en")}.`);
    }
  }

  /** Ends the bar and prints a line below it. */
  note(text: string): void {
    this.stop();
    this.#printer.warn(text);
  }

  stop(): void {
    this.#bar?.stop();
  }
}
