/** Output of a command to the person who runs it. */
export interface Printer {
  print(text: string): void;
  /** To standard error. */
  warn(text: string): void;
}

export const terminal: Printer = {
  print: (text) => void process.stdout.write(`${text}\n`),
  warn: (text) => void process.stderr.write(`${text}\n`),
};
