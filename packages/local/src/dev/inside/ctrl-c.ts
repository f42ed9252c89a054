/** Longest that Wrangler may take to end by itself after a Ctrl-C, in ms. Usually it takes less than a second. */
export const ENDING_MS_MAX = 5_000;

/** Exit code of a process that a Ctrl-C ended, as in shells. */
const EXIT_CODE = 130;
const CTRL_C = 3;

/** The part of a process that `endOnCtrlC` needs. */
export interface EndingProcess {
  readonly stdin: { isRaw?: boolean; emit(event: string | symbol, ...args: unknown[]): boolean };
  exit(code: number): void;
}

/**
 * Ends a Wrangler that does not end by itself after a Ctrl-C; at a second Ctrl-C at once. Wrangler reads single keys
 * from the terminal, so a Ctrl-C is a key and no signal: neither the system nor the parent process notices it. A
 * Wrangler that hangs while it ends, as it does when its folder is gone, would hang for ever.
 *
 * Observes the `data` events of `stdin`, and reads nothing itself.
 */
export function endOnCtrlC(
  { stdin, exit }: EndingProcess,
  warn: (text: string) => void = (text) => console.warn(text),
): void {
  const emit = stdin.emit.bind(stdin);
  let timer: NodeJS.Timeout | undefined;
  const end = (text: string) => {
    warn(text);
    exit(EXIT_CODE);
  };
  stdin.emit = (event, ...args) => {
    const [data] = args;
    if (event === "data" && stdin.isRaw === true && data instanceof Uint8Array && data.includes(CTRL_C)) {
      if (timer !== undefined) end("Ended at the second Ctrl-C.");
      const patience = `Wrangler did not end within ${ENDING_MS_MAX / 1_000} s, and was ended.`;
      timer ??= setTimeout(() => end(patience), ENDING_MS_MAX).unref();
    }
    return emit(event, ...args);
  };
}
