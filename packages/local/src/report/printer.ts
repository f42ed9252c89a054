import { styleText } from "node:util";
import type { Look } from "./table.ts";

/** Output of a command to the person who runs it, with the look of standard output. */
export interface Printer extends Look {
  print(text: string): void;
  /** To standard error. */
  warn(text: string): void;
  /** Says to standard error why a command has failed. Default: as `warn` does. */
  fail?(text: string): void;
}

/** Standard output and standard error. Coloured where they are terminals, or where `FORCE_COLOR` says so. */
export const terminal: Printer = {
  get columns() {
    return process.stdout.columns;
  },
  paint: (colour, text) => styleText(colour, text, { stream: process.stdout }),
  print: (text) => void process.stdout.write(`${text}\n`),
  warn: (text) => void process.stderr.write(`${text}\n`),
  fail: (text) => void process.stderr.write(`${styleText("red", text, { stream: process.stderr })}\n`),
};
