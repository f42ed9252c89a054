import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/**
 * Answers the broker in workerd, which has no source maps: it posts a stack trace, and gets it with the places of the
 * user's files. On this machine alone, at a path that no other process can guess.
 */
export class StackService {
  readonly #path = `/${randomUUID()}`;
  readonly #server;

  /** Begins to listen. @param named makes of a stack trace the one that is answered. */
  constructor(named: (stack: string) => string) {
    this.#server = createServer(async (request, response) => {
      if (request.method !== "POST" || request.url !== this.#path) {
        response.writeHead(404).end();
        return;
      }
      try {
        response.end(named(await text(request)));
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

  /** Where the broker posts stack traces. Throws right after the start. */
  get url(): string {
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) throw new Error("The address for stack traces is asked for too early.");
    return `http://127.0.0.1:${address.port}${this.#path}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
