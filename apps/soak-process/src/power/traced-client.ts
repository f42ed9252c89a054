import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { answerName } from "./disk-trace.ts";

/** Answer to a request, with the name that it has in the trace. */
export interface TracedAnswer {
  readonly status: number;
  readonly body: string;
  readonly name: string;
}

/** Client with one connection, so that its answers can be found in a trace of the broker by their numbers. */
export class TracedClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #life: number;
  readonly #answered = new Map<number, number>();

  /**
   * @param url origin of the broker, without a path.
   * @param life number of the broker's process, from 1.
   */
  constructor(url: string, life: number) {
    this.#url = url;
    this.#life = life;
  }

  /** Sends a request. Rejects if no whole answer comes. */
  async call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<TracedAnswer> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(new URL(path, this.#url), { method, headers, agent: this.#agent })
        .once("response", resolve)
        .once("error", reject)
        .end(body);
    });
    const port = response.socket.localPort ?? 0;
    const ordinal = (this.#answered.get(port) ?? 0) + 1;
    this.#answered.set(port, ordinal);
    const name = answerName(this.#life, port, ordinal);
    return { status: response.statusCode ?? 0, body: await text(response), name };
  }

  close(): void {
    this.#agent.destroy();
  }
}
