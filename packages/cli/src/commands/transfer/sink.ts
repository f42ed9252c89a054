import { closeSync, fchmodSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { Printer } from "@sluice/local/report/printer";
import { type Checkpoint, OWNERS_MODE } from "./checkpoint.ts";

/** Takes lines. */
export interface Sink<State extends object> {
  /** Each with its end. */
  write(lines: string): void;
  /** Notes how far everything has come that was written. */
  keep(state: State): void;
  /** When everything was written. */
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
 * Lines of a file that only its owner can read, with a note beside it of how long it was when that was written.
 *
 * @param from length of the file that is known to be whole: what is behind it is cut off.
 */
export function toFile<State extends object>(
  file: string,
  flags: "wx" | "r+",
  from: number,
  checkpoint: Checkpoint<State & { readonly bytes: number }>,
): Sink<State> {
  const descriptor = openSync(file, flags, OWNERS_MODE);
  // One that was there keeps its mode otherwise.
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
