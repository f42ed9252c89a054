import type { QueueRuntimeOptions } from "../api.ts";
import { DELIVERY_BEGINNING, INTERRUPTED_ERROR, SHOWN_BEGINNING } from "../wire.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { Prepared } from "./prepare.ts";

/** Log lines to leave out: workerd's own for its developers, and injected faults. */
const EXPECTED = new RegExp(`^(NOSENTRY |(\\w+ \\[)?${INTERRUPTED_ERROR}\\]?: )`);

/** Prints the lines of Workers, notes deliveries, and begins with the warnings about configurations. */
export class Printer {
  readonly #rewrite: Prepared["rewrite"];
  readonly #log: QueueRuntimeOptions["log"];
  readonly #open: OpenCalls;
  #isShown = true;

  constructor(
    { warnings, rewrite }: Pick<Prepared, "warnings" | "rewrite">,
    { log }: Pick<QueueRuntimeOptions, "log">,
    open: OpenCalls,
  ) {
    this.#rewrite = rewrite;
    this.#log = log;
    this.#open = open;
    for (const warning of warnings) this.warn(warning);
  }

  /** Prints a line of the test kit itself, whatever is shown of Workers. */
  warn(line: string): void {
    (this.#log ?? write)(line, "warn");
  }

  /** Prints a line of workerd, unless it is for the test kit. */
  print(text: string, level: string): void {
    if (text.startsWith(DELIVERY_BEGINNING)) {
      this.#open.delivery(JSON.parse(text.slice(DELIVERY_BEGINNING.length)));
    } else if (text.startsWith(SHOWN_BEGINNING)) {
      this.show(text.endsWith("true"));
    } else if (!EXPECTED.test(text)) {
      if (this.#log !== undefined) this.#log(this.#rewrite(text), level);
      else if (this.#isShown) write(this.#rewrite(text), level);
    }
  }

  /** Shows later lines, or not. A function of the user's gets all of them. */
  show(isShown: boolean): void {
    this.#isShown = isShown;
  }
}

/** Writes a line where plain Miniflare writes it. */
function write(line: string, level: string): void {
  const stream = level === "error" || level === "warn" ? process.stderr : process.stdout;
  stream.write(`${line}\n`);
}
