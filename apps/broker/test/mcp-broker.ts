import { definition, pullConsumer } from "@sluice/broker/testing/messages";
import { expect } from "vitest";
import { startSharedBroker } from "./any-broker.ts";

/** Token with all rights of a broker for tests of the Model Context Protocol. */
export const FIRST = "first-token";

const history = { historySeconds: 3_600 };
const pulled = (deadLetterQueue: string) =>
  definition({ consumer: pullConsumer({ maxRetries: 0, deadLetterQueue }), ...history });
const QUEUES = {
  orders: pulled("dead"),
  dead: { ...definition(), ...history },
  hostile: pulled("letters"),
  letters: { ...definition(), ...history },
  kept: pulled("kept-dead"),
  "kept-dead": { ...definition(), ...history },
  waits: pulled("dead"),
  acted: pulled("dead"),
};

/** A broker with queues whose messages die at their first failure, and its admin API. */
export class McpBroker {
  readonly mcp: string;
  readonly dispose: () => Promise<void>;
  readonly #origin: string;

  constructor({ origin, dispose }: Pick<McpBroker, "dispose"> & { readonly origin: string }) {
    this.mcp = `${origin}/__sluice/mcp`;
    this.dispose = dispose;
    this.#origin = origin;
  }

  async request(path: string, method: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${FIRST}`, "content-type": "application/json" };
    return fetch(`${this.#origin}/__sluice${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async api(path: string, method = "GET", body?: unknown) {
    return (await this.request(`/api${path}`, method, body)).json();
  }

  /** Receives messages and lets their leases expire, which moves them to the queue `dead`. */
  async die(queue: string, dead: string, count: number): Promise<void> {
    const { queues } = (await this.api("/queues")) as { queues: { name: string; id: string }[] };
    const { id } = queues.find(({ name }) => name === queue) ?? {};
    const pull = `/client/v4/accounts/any/queues/${id}/messages/pull`;
    for (let left = count; left > 0; left -= 100) {
      await this.request(pull, "POST", { batch_size: 100, visibility_timeout_ms: 1_000 });
    }
    await this.api("/clock", "POST", { advanceMs: 2_000 });
    const held = async () => (await this.api(`/queues/${dead}`)) as { messages: { ready: number } };
    await expect.poll(async () => (await held()).messages.ready).toBe(count);
  }

  async tokenOf(name: string, scopes: readonly string[]): Promise<string> {
    return ((await this.api("/tokens", "POST", { name, scopes })) as { secret: string }).secret;
  }
}

export async function startMcpBroker(): Promise<McpBroker> {
  const vars = { SLUICE_ENV: "development", SLUICE_API_TOKENS: FIRST };
  return new McpBroker(await startSharedBroker(vars, { queues: QUEUES }));
}
