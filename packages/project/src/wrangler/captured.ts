import type { Captured } from "./child-contract.ts";
import { type Desk, openDesk } from "./question.ts";

/** Wrangler's notice after a question that it answers by itself: it knows more machines of CI than `canAsk` does. */
const ANSWERED_ITSELF = /in non-interactive context/;

type Streams = Pick<Captured, "out" | "all">;

/**
 * Keeps what is printed, until it ends. It goes on its way too: a command that ends its process answers no more.
 *
 * @param terminal descriptor of the one to ask at; `null` where nobody is to be asked.
 */
export function captured(terminal: number | null): { readonly streams: Streams; end(): void } {
  const streams = { out: "", all: "" };
  const { stdout, stderr } = process;
  const desk: Desk | null = terminal === null ? null : openDesk(terminal, () => streams.all);
  const originals = [stdout, stderr, ...(desk === null ? [] : [desk.stream])].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  const [out, , shown] = originals;
  for (const { stream, write } of originals) {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const said = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      streams.all += said;
      if (stream !== stderr) streams.out += said;
      if (desk?.isOpen() === true) shown?.write(said);
      const go = stream === desk?.stream && out !== undefined ? out.write : write;
      const went = Reflect.apply(go, stream, [chunk, ...rest]);
      // It has not done yet what it would have asked for.
      if (desk !== null && ANSWERED_ITSELF.test(said)) process.exit(1);
      return went;
    };
  }
  return {
    streams,
    end: () => {
      for (const { stream, write } of originals) stream.write = write;
      desk?.end();
    },
  };
}
