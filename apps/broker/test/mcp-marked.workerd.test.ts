import { consumer, definition } from "@sluice/broker/testing/messages";
import { expect, it } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";
import { connectAgent } from "./mcp-client.ts";
import { textsIn } from "./texts-in.ts";

/* Where the tools of MCP show texts of others, by a mark in every such text. */

const MARK = "MARK-OF-OTHERS";
const NASTY = "\u001b[2J\u202e";
const HOSTILE = `${NASTY}${MARK}`;

/** A consumer that says the mark in each of its texts: errors, names of them, stacks, printed lines, retries. */
const CONSUMER = `
import { WorkerEntrypoint } from "cloudflare:workers";
const text = ${JSON.stringify(HOSTILE)};
export class SluiceQueueConsumer extends WorkerEntrypoint {
  async deliver() {
    return {
      outcome: "exception",
      error: text + ": " + text + "\\n    at " + text,
      ackAll: false,
      retryBatch: { retry: false },
      explicitAcks: [],
      retryMessages: [],
      logs: { lines: [{ afterMs: 0, level: "error", text }] },
    };
  }
  async callsOf() { return null; }
  async ping() { return "pong"; }
}
export default { fetch: () => new Response("consumer") };
`;

const TOPOLOGY = {
  queues: {
    orders: definition({
      consumer: consumer({
        maxRetries: 0,
        maxBatchSize: 1,
        maxBatchTimeoutSeconds: 0,
        deadLetterQueue: "dead",
      }),
      historySeconds: 3_600,
      finishedMessages: 10,
    }),
    dead: definition({ historySeconds: 3_600 }),
  },
  alerts: { format: "webhook", deadLetters: true, failures: { share: 0, deliveries: 1 } },
};

it("each tool has texts of others in members of their own, with control characters shown, while alerts are on", async () => {
  const entry = `
    import { defineBroker } from "@sluice/broker-worker";
    const consumers = { consumer: "CONSUMER" };
    const { QueueBroker, Directory, handler } = defineBroker({ topology: ${JSON.stringify(TOPOLOGY)}, consumers });
    export { Directory, QueueBroker };
    export default handler;
  `;
  const broker = await startBrokerWorker(entry, { SLUICE_ENV: "development" }, { consumer: CONSUMER });
  const { origin } = await broker.ready;
  await using agent = await connectAgent(`${origin}/__sluice/mcp`);
  const sent = await fetch(`${origin}/__sluice/api/queues/orders/messages`, {
    method: "POST",
    headers: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: `k=${MARK}` },
    body: JSON.stringify({ body: HOSTILE, attributes: { [MARK]: HOSTILE } }),
  });
  const { id } = (await sent.json()) as { id: string };
  await expect
    .poll(async () => (await agent.call("explain_queue", { queue: "dead" })).text)
    .toContain('ready":1');
  const [first] = (await agent.call("find_messages", { queue: "dead" })).data.found[0].messages;
  expect(first.trace).toMatchObject({ id: "a".repeat(32), untrusted: { tracestate: `k=${MARK}` } });
  const dead = first.id;
  const alerts = async () => (await agent.call("why", { queue: "orders" })).data.also;
  await expect
    .poll(alerts)
    .toMatchObject([{ reason: "alert", untrusted: { text: expect.stringContaining("\\x1b[2J\\u{202e}") } }]);

  /** Tools, with whether the mark is in their answer. */
  const calls: readonly (readonly [string, Record<string, unknown>, boolean])[] = [
    ["list_queues", {}, true],
    ["explain_queue", { queue: "orders" }, true],
    ["explain_queue", { queue: "dead" }, true],
    ["find_messages", { queue: "dead" }, true],
    ["find_messages", { filter: MARK }, true],
    ["find_messages", { filter: id }, true],
    ["get_message", { queue: "dead", id: dead }, true],
    ["get_story", { queue: "dead", id: dead }, true],
    ["why", { queue: "orders" }, true],
    ["why", { queue: "dead", id: dead }, false],
    ["wait_for", { queue: "orders", id, seconds: 0 }, false],
    ["redrive", { queue: "dead" }, true],
    ["delete_or_purge", { queue: "dead", all: true }, true],
    ["delete_or_purge", { queue: "dead", id: dead }, true],
    ["retry", { queue: "dead", filter: "", dryRun: true }, false],
    ["clock", {}, false],
    ["faults", { queue: "orders" }, false],
    ["search_docs", { query: MARK }, false],
    ["send", { queue: "orders", body: "plain" }, false],
  ];
  const { tools } = await agent.client.listTools();
  expect(new Set(calls.map(([tool]) => tool))).toEqual(new Set(tools.map(({ name }) => name)));
  for (const [tool, input, isMarked] of calls) {
    const name = `${tool} ${JSON.stringify(input)}`;
    const { data, text, isError } = await agent.call(tool, input);
    expect([isError, isError ? text : ""], name).toEqual([false, ""]);
    expect(JSON.parse(text), name).toEqual(data);
    const marked = textsIn(data).filter((one) => one.text.includes(MARK));
    expect(marked.length > 0, name).toBe(isMarked);
    expect(
      marked.filter(({ path }) => !path.includes("untrusted")),
      name,
    ).toEqual([]);
    expect(
      marked.filter((one) => /[\p{Cc}\p{Cf}]/u.test(one.text.replaceAll("\n", ""))),
      name,
    ).toEqual([]);
  }
});
