import { setImmediate } from "node:timers/promises";
import { ChildEnded } from "@sluice/project/wrangler/child";
import type { Printer } from "../report/printer.ts";

interface ChangesOptions {
  readonly printer: Pick<Printer, "print" | "warn">;
  /** Whether the session has ended. */
  readonly isOver: () => boolean;
}

/** Changes of files, read one after the other. A fault is said once while it lasts. */
export function changesOf(read: () => Promise<void>, { printer, isOver }: ChangesOptions) {
  let reading = Promise.resolve();
  let complaint = "";
  const readNext = async () => {
    try {
      await read();
      if (complaint !== "" && !isOver()) printer.print("The configuration has been read again.");
      complaint = "";
    } catch (error) {
      // A Wrangler that ends lets a reading fail, and the session ends some promises later.
      await setImmediate();
      // One that is started anew has it read again.
      if (error instanceof ChildEnded) return;
      const text = `${error instanceof Error ? error.message : error}\nSluice goes on with what it read before.`;
      // Other processes come and go while a file stays as it is.
      if (!isOver() && text !== complaint) printer.warn(text);
      complaint = text;
    }
  };
  return {
    /** Something has changed, or may have. */
    onChange(): void {
      reading = reading.then(readNext);
    },
    /** Resolves once all changes so far are read. */
    settled: () => reading,
  };
}
