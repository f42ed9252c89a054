import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  statSync,
  writeSync,
} from "node:fs";
import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { type Checkpoint, OWNERS_MODE } from "./checkpoint.ts";

/** Destination of an export's lines. */
export interface Sink<State extends object> {
  /** Writes lines, each with its line end. */
  write(lines: string): void;
  /** Stores the progress. Call it before the first line is written: a file with lines and no progress is complete. */
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

/** Whether a file exists and has lines. An export that is killed at its beginning leaves an empty one. */
export function hasLines(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Writes lines to a file that only its owner can read. The checkpoint has the file's length after the last complete
 * page, whose lines are on disk by then, also after a power cut.
 *
 * @param from length of the part of the file that is kept. The rest is cut off.
 * @throws CliError for a file that is shorter than that.
 */
export function toFile<State extends object>(
  file: string,
  flags: "wx" | "w" | "r+",
  from: number,
  checkpoint: Checkpoint<State & { readonly bytes: number }>,
): Sink<State> {
  const descriptor = openSync(file, flags, OWNERS_MODE);
  // `OWNERS_MODE` counts for a new file only.
  fchmodSync(descriptor, OWNERS_MODE);
  const { size } = fstatSync(descriptor);
  if (size < from) {
    closeSync(descriptor);
    throw new CliError(
      `${file} has ${size} bytes, and ${from} were written: something has shortened it. Export to another file.`,
      EXIT_FAILED,
    );
  }
  ftruncateSync(descriptor, from);
  let bytes = from;
  return {
    write: (lines) => {
      // A nearly full disk may take only a part of the bytes.
      for (let rest = Buffer.from(lines); rest.length > 0; ) {
        const written = writeSync(descriptor, rest, 0, null, bytes);
        bytes += written;
        rest = rest.subarray(written);
      }
    },
    keep: (state) => {
      fsyncSync(descriptor);
      checkpoint.write({ ...state, bytes });
    },
    end: () => {
      fsyncSync(descriptor);
      closeSync(descriptor);
      checkpoint.remove();
    },
  };
}
