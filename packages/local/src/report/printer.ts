import { styleText } from "node:util";
import type { Look } from "./table.ts";

/** Output of a command to the person who runs it, with the look of standard output. */
export interface Printer extends Look {
  print(text: string): void;
  /** Prints to standard error. */
  warn(text: string): void;
  /** Prints to standard error why a command has failed. Default: as `warn`. */
  fail?(text: string): void;
}

/** Printer to standard output and standard error, coloured where they are terminals or `FORCE_COLOR` is set. */
export const terminal: Printer = {
  get columns() {
    return process.stdout.columns;
  },
  paint: (colour, text) => styleText(colour, text, { stream: process.stdout }),
  print: (text) => void process.stdout.write(`${text}\n`),
  warn: (text) => void process.stderr.write(`${text}\n`),
  fail: (text) => void process.stderr.write(`${styleText("red", text, { stream: process.stderr })}\n`),
};
