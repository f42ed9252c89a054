import { closeSync, fchmodSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { Printer } from "@sluice/local/report/printer";
import { type Checkpoint, OWNERS_MODE } from "./checkpoint.ts";

/** Destination of an export's lines. */
export interface Sink<State extends object> {
  /** Writes lines, each with its line end. */
  write(lines: string): void;
  /** Stores the progress of what was written. */
  keep(state: State): void;
  /** Ends the destination after the last line. */
  end(): void;
}

export function toPrinter(printer: Printer): Sink<object> {
  return {
    write: (lines) => {
      if (lines !== "") printer.print(lines.trimEnd());
    },
    keep: () => {},
    end: () => {},
  };
}

/**
 * Writes lines to a file that only its owner can read, with the file's length in the checkpoint.
 *
 * @param from length of the file's part that is whole: the rest is cut off.
 */
export function toFile<State extends object>(
  file: string,
  flags: "wx" | "r+",
  from: number,
  checkpoint: Checkpoint<State & { readonly bytes: number }>,
): Sink<State> {
  const descriptor = openSync(file, flags, OWNERS_MODE);
  // `OWNERS_MODE` counts for a new file only.
  fchmodSync(descriptor, OWNERS_MODE);
  ftruncateSync(descriptor, from);
  let bytes = from;
  return {
    write: (lines) => {
      bytes += writeSync(descriptor, Buffer.from(lines), 0, null, bytes);
    },
    keep: (state) => checkpoint.write({ ...state, bytes }),
    end: () => {
      closeSync(descriptor);
      checkpoint.remove();
    },
  };
}
