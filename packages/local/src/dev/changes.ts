import { setImmediate } from "node:timers/promises";
import { ChildEnded } from "@sluice/project/wrangler/child";
import type { Printer } from "../report/printer.ts";

interface ChangesOptions {
  readonly printer: Pick<Printer, "print" | "warn">;
  /** Whether the session has ended. */
  readonly isOver: () => boolean;
}

/** Reads changes of files one after the other. An error is printed once while it stays the same. */
export function changesOf(read: () => Promise<void>, { printer, isOver }: ChangesOptions) {
  let reading = Promise.resolve();
  /** Whether a reading waits for the one under way. It will see all changes until it begins. */
  let isWaiting = false;
  let printedError = "";
  const readNext = async () => {
    isWaiting = false;
    try {
      await read();
      if (printedError !== "" && !isOver()) printer.print("The configuration has been read again.");
      printedError = "";
    } catch (error) {
      // The end of Wrangler fails a reading, and the session ends some promises later.
      await setImmediate();
      // A restart of Wrangler causes another reading.
      if (error instanceof ChildEnded) return;
      const text = `${error instanceof Error ? error.message : error}\nSluice goes on with what it read before.`;
      // Other processes come and go, and the file with the error is read again each time.
      if (!isOver() && text !== printedError) printer.warn(text);
      printedError = text;
    }
  };
  return {
    /** Reads again: something has changed, or may have. */
    onChange(): void {
      if (isWaiting) return;
      isWaiting = true;
      reading = reading.then(readNext);
    },
    /** Resolves once all changes so far are read. */
    settled: () => reading,
  };
}
