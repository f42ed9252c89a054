import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "./node-http.ts";

/** Longest accepted text, in bytes; a valid stack trace is far shorter. */
export const TEXT_BYTES_MAX = 65_536;

/** Answers a posted text. */
type Answer = (text: string) => string | Promise<string>;

/**
 * Server for the broker in workerd, which cannot read files. A POST of a stack trace to `url` is answered with the
 * trace mapped to the user's sources. A POST of words to `/docs` below it is answered with the sections of the
 * documentation that match. It listens on this machine only, at a path that no other process can guess.
 */
export class HostService {
  readonly #path = `/${randomUUID()}`;
  readonly #server;

  /**
   * Begins to listen.
   *
   * @param mapStack returns a stack trace mapped to the user's sources.
   * @param others answers at paths below `url`, such as `/r2`. Default: only `/docs`.
   */
  constructor(mapStack: Answer, others: Readonly<Record<string, Answer>> = {}) {
    const answers = new Map(
      Object.entries({ "": mapStack, "/docs": foundDocs, ...others }).map(([path, answer]) => [
        `${this.#path}${path}`,
        answer,
      ]),
    );
    this.#server = createServer(async (request, response) => {
      const answer = answers.get(request.url ?? "");
      if (request.method !== "POST" || answer === undefined) {
        response.writeHead(404).end();
        return;
      }
      try {
        const text = await textOf(request);
        if (text === null) response.writeHead(413).end();
        else response.end(await answer(text));
      } catch {
        // The broker can do without an answer.
        response.writeHead(500).end();
      }
    });
    this.#server.listen(0, "127.0.0.1").unref();
  }

  /** Resolves when `url` can be read. */
  async listening(): Promise<void> {
    if (!this.#server.listening) await once(this.#server, "listening");
  }

  /** URL for stack traces. @throws Error before `listening()` has resolved. */
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

async function foundDocs(query: string): Promise<string> {
  const { searchDocs } = await import("../docs/search-docs.ts");
  return JSON.stringify(searchDocs(query));
}

/** Reads a body; `null` for one that is too long. */
async function textOf(request: IncomingMessage): Promise<string | null> {
  let bytes = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= TEXT_BYTES_MAX) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes <= TEXT_BYTES_MAX ? Buffer.concat(chunks).toString() : null;
}
