import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** Longest text that is taken, in bytes; a valid stack trace is far shorter. */
export const STACK_BYTES_MAX = 65_536;

/**
 * Answers the broker in workerd, which has no source maps and sees no files: it posts a stack trace, and gets it with
 * the places of the user's files; or it posts which R2 buckets are to be watched. On this machine alone, at a path that
 * no other process can guess.
 */
export class StackService {
  readonly #path = `/${randomUUID()}`;
  readonly #server;

  /** Begins to listen. @param answer makes the answer to a text. */
  constructor(answer: (text: string) => string | Promise<string>) {
    this.#server = createServer(async (request, response) => {
      if (request.method !== "POST" || request.url !== this.#path) {
        response.writeHead(404).end();
        return;
      }
      try {
        const text = await textOf(request);
        if (text === null) response.writeHead(413).end();
        else response.end(await answer(text));
      } catch {
        // The broker keeps the stack trace as it is then.
        response.writeHead(500).end();
      }
    });
    this.#server.listen(0, "127.0.0.1").unref();
  }

  /** Resolves when `url` can be read. */
  async listening(): Promise<void> {
    if (!this.#server.listening) await once(this.#server, "listening");
  }

  /** Where the broker posts texts. Throws right after the start. */
  get url(): string {
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) throw new Error("The address of the service is asked for too early.");
    return `http://127.0.0.1:${address.port}${this.#path}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Reads a body; `null` for one that is too long, of which nothing is kept. */
async function textOf(request: IncomingMessage): Promise<string | null> {
  let bytes = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= STACK_BYTES_MAX) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes <= STACK_BYTES_MAX ? Buffer.concat(chunks).toString() : null;
}
