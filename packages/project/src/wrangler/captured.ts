import type { Captured } from "./child-contract.ts";
import { openTerminal, type QuestionTerminal } from "./question.ts";

/** Wrangler's notice after a question that it answers by itself: it recognises more CI machines than `canAsk` does. */
const ANSWERED_ITSELF = /in non-interactive context/;

type Streams = Pick<Captured, "out" | "all">;

/**
 * Captures what this process prints, until `end` is called. The output is also written to its streams: if a command
 * ends the process, the parent reads it there.
 *
 * @param terminalFd descriptor of the terminal for questions; `null` where none are asked.
 */
export function captureOutput(terminalFd: number | null): { readonly streams: Streams; end(): void } {
  const streams = { out: "", all: "" };
  const { stdout, stderr } = process;
  const terminal: QuestionTerminal | null =
    terminalFd === null ? null : openTerminal(terminalFd, () => streams.all);
  const originals = [stdout, stderr, ...(terminal === null ? [] : [terminal.stream])].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  const [out, , onTerminal] = originals;
  for (const { stream, write } of originals) {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      streams.all += text;
      if (stream !== stderr) streams.out += text;
      if (terminal?.hasQuestion() === true) onTerminal?.write(text);
      // The terminal's stream replaces standard output, so its text goes to the original one.
      const original = stream === terminal?.stream && out !== undefined ? out.write : write;
      const result = Reflect.apply(original, stream, [chunk, ...rest]);
      // Ends Wrangler before it acts on its own answer.
      if (terminal !== null && ANSWERED_ITSELF.test(text)) process.exit(1);
      return result;
    };
  }
  return {
    streams,
    end: () => {
      for (const { stream, write } of originals) stream.write = write;
      terminal?.end();
    },
  };
}
