import { WriteStream } from "node:tty";

/** Terminal for the questions of a command of Wrangler's. */
export interface QuestionTerminal {
  /** Replaces standard output while the command runs. */
  readonly stream: WriteStream;
  /** Whether a question is open. Then everything that the command prints is shown. */
  hasQuestion(): boolean;
  end(): void;
}

let terminal: WriteStream | null = null;

/**
 * Opens a terminal for the questions of a command. A question is open while standard input is in raw mode, which every
 * prompt of Wrangler's sets to read keys. The terminal shows questions with the output that led to them, and no other
 * output.
 *
 * @param fd descriptor of the terminal.
 * @param printed returns everything that the command has printed so far.
 */
export function openTerminal(fd: number, printed: () => string): QuestionTerminal {
  const { stdin, stdout } = process;
  terminal ??= new WriteStream(fd);
  const stream = terminal;
  const show = stream.write.bind(stream);
  const { setRawMode } = stdin;
  let isOpen = false;
  let shown = 0;
  stdin.setRawMode = (mode) => {
    if (mode && !isOpen) show(`\n${printed().slice(shown).trimStart()}`);
    if (!mode) shown = printed().length;
    isOpen = mode;
    return setRawMode.call(stdin, mode);
  };
  replaceStdout(stream);
  return {
    stream,
    hasQuestion: () => isOpen,
    end: () => {
      stdin.setRawMode = setRawMode;
      replaceStdout(stdout);
    },
  };
}

function replaceStdout(stdout: NodeJS.WriteStream): void {
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true, enumerable: true });
}
