import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/**
 * Writes every line of a stream to another one, as it is rewritten; `null` leaves it out. Resolves when all of it is written.
 *
 * Whoever reads our output may go away. That is no reason to stop serving, so what is left is read and forgotten.
 */
export async function forwardLines(
  from: Readable,
  to: Writable,
  rewrite: (line: string) => string | null,
): Promise<void> {
  let isRead = true;
  const gone = () => {
    isRead = false;
  };
  to.on("error", gone);
  try {
    for await (const line of createInterface({ input: from, crlfDelay: Number.POSITIVE_INFINITY })) {
      const text = isRead ? rewrite(line) : null;
      if (text === null || to.write(`${text}\n`)) continue;
      await once(to, "drain").catch(gone);
    }
  } finally {
    to.off("error", gone);
  }
}
