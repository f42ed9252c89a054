import { WriteStream } from "node:tty";

/** The terminal that a command of Wrangler's may ask at. */
export interface Desk {
  /** Stands for standard output while such a command runs. */
  readonly stream: WriteStream;
  /** Whether a question is open: then everything that is printed is shown. */
  isOpen(): boolean;
  end(): void;
}

let terminal: WriteStream | null = null;

/**
 * Lets a command ask. A question is open while the terminal is in raw mode: every prompt of Wrangler's puts it there to
 * read keys. Nothing else of what the command prints is shown.
 *
 * @param fd of the terminal.
 * @param said everything that the command has printed so far: a question is shown with what led to it.
 */
export function openDesk(fd: number, said: () => string): Desk {
  const { stdin, stdout } = process;
  terminal ??= new WriteStream(fd);
  const stream = terminal;
  const show = stream.write.bind(stream);
  const { setRawMode } = stdin;
  let isOpen = false;
  let shown = 0;
  stdin.setRawMode = (mode) => {
    if (mode && !isOpen) show(`\n${said().slice(shown).trimStart()}`);
    if (!mode) shown = said().length;
    isOpen = mode;
    return setRawMode.call(stdin, mode);
  };
  become(stream);
  return {
    stream,
    isOpen: () => isOpen,
    end: () => {
      stdin.setRawMode = setRawMode;
      become(stdout);
    },
  };
}

function become(stdout: NodeJS.WriteStream): void {
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true, enumerable: true });
}
