import { pullConsumer } from "@sluice/broker/testing/messages";
import {
  type HistoryEvent,
  type MoveTask,
  packMessages,
  type QueueDefinition,
  type QueueRecord,
  type ReceiveReply,
} from "@sluice/protocol";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  DEAD,
  directoryOf,
  eventOf,
  FIGURES,
  lookedAt,
  ORDERS,
  queueWith,
  recordOf,
} from "../../test/directory.ts";
import { memoryTokens } from "../../test/in-memory.ts";
import { SqsClient } from "../../test/sqs-client.ts";
import { ADMIN_NEEDS } from "../admin/access/needs.ts";
import { CLOUDFLARE_NEEDS } from "../cloudflare/needs.ts";
import { createGateway } from "../index.ts";
import { sha256Of } from "./digest.ts";
import { ANOTHER_QUEUE } from "./other-queues.ts";

/** A queue that the token of these tests may not use, and its own, which takes that one's dead letters. */
const OTHER = "secret-orders";
const OWN = "mail-dead";

const ORDERS_DYING: QueueDefinition = {
  ...ORDERS,
  consumer: pullConsumer({ maxBatchSize: 10, deadLetterQueue: OWN }),
};
const MOVE: MoveTask = {
  taskId: "t",
  target: OTHER,
  ratePerSecond: null,
  status: "running",
  failure: null,
  startedMs: 1,
  moved: 2,
  toMove: 5,
};
const EVENT = eventOf({ kind: "arrived", queue: OWN, by: OTHER });
const EVENTS: HistoryEvent[] = [EVENT, { ...EVENT, kind: "redriven", by: null, to: OTHER }];
const MESSAGE = lookedAt({ from: OTHER });
/** A message as SQS receives it. */
const LETTER = packMessages([
  {
    id: "a".repeat(32),
    contentType: "text",
    body: new Uint8Array([65]),
    extension: { deadLetterSource: OTHER },
  },
]);

/** A broker where whatever can name the other queue does. */
async function broker() {
  const directory = directoryOf({ [OWN]: DEAD, [OTHER]: ORDERS_DYING }, { lastMove: MOVE });
  const tokens = memoryTokens();
  await tokens.createToken({
    name: "shop",
    secret: { kind: "bearer", sha256: await sha256Of("shop") },
    scopes: ["admin"],
    queues: ["mail-*"],
    expiresAtMs: null,
    ratePerSecond: null,
  });
  const able = queueWith({
    look: async (_, { filter = [] }) => {
      const fits = filter.every((term) => term.field !== "from" || term.queue === MESSAGE.from);
      const messages = fits ? [MESSAGE] : [];
      return { messages, matched: messages.length, cursor: null, searched: 1, of: 1 };
    },
    history: async () => ({ isOn: true, events: EVENTS, next: null }),
    watch: async () => ({ state: "s", last: 1, events: EVENTS, isGap: false, figures: FIGURES }),
    why: async () => ({ reason: "empty", text: "Nothing.", untilMs: null, by: null, also: [] }),
    startMove: async () => ({ ok: true, task: MOVE }),
    listMoves: async () => [MOVE],
    cancelMove: async () => ({ ok: true, task: MOVE }),
    drain: async () => ({ requests: 0 }),
  });
  const account: typeof directory.account = {
    ...directory.account,
    setConsumer: async () => ({ ok: false, refusal: { kind: "deadLetterCycle", queues: [OWN, OTHER] } }),
  };
  return createGateway(
    { ...directory, account, tokens, queue: () => able },
    { kind: "tokens", tokens: ["first"] },
  );
}

const BODIES: Readonly<Record<string, object>> = {
  "POST /accounts/:account_id/queues/:queue_id/consumers": { type: "http_pull", dead_letter_queue: OWN },
  "PUT /accounts/:account_id/queues/:queue_id/consumers/:consumer_id": {
    type: "http_pull",
    dead_letter_queue: OWN,
  },
};
const ROUTES = [
  ...Object.keys(ADMIN_NEEDS).map((route) => ["/__sluice", route, OWN] as const),
  ...Object.keys(CLOUDFLARE_NEEDS).map((route) => ["/__sluice/client/v4", route, OWN] as const),
  // By its id, which says nothing of its name.
  ...Object.keys(CLOUDFLARE_NEEDS).map((route) => ["/__sluice/client/v4", route, OTHER] as const),
];

/** All that a request is answered with; of a stream, what it begins with. */
async function answerTo(
  token: string,
  prefix: string,
  route: string,
  queue: string,
  body = BODIES[route] ?? {},
): Promise<string> {
  const [method = "", pattern = ""] = route.split(" ");
  const { queueId } = recordOf(queue, DEAD);
  const parameters: Record<string, string> = {
    ":name": queue,
    ":queue_id": queueId,
    ":consumer_id": queueId,
  };
  const path = pattern.replaceAll(/:[a-z_]+/g, (name) => parameters[name] ?? "any");
  const headers = { authorization: `Bearer ${token}` };
  const init = method === "GET" ? { headers } : { method, headers, body: JSON.stringify(body) };
  const response = await (await broker()).request(`http://localhost${prefix}${path}`, init);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

beforeEach(() => {
  // Not all of these queues can do what they are asked.
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  return () => log.mockRestore();
});

describe("the name of a queue that a token may not use", () => {
  it.each(ROUTES)("is in no answer of %s %s for %s", async (prefix, route, queue) => {
    const answer = await answerTo("shop", prefix, route, queue);
    expect(answer).not.toContain(OTHER);
  });

  it.each([
    ["POST /api/queues/:name/redrive", { dryRun: true }],
    ["POST /api/queues/:name/redrive", { to: "mail-none" }],
  ])("is in no answer of %s with %j", async (route, body) => {
    expect(await answerTo("shop", "/__sluice", route, OWN, body)).not.toContain(OTHER);
  });

  it.each([
    ...["GET /api/queues", "GET /api/queues/:name", "GET /api/queues/:name/messages", "GET /api/events"],
    ...["GET /api/queues/:name/messages/:id", "GET /api/queues/:name/history"],
    ...["POST /api/queues/:name/redrive", "POST /api/queues/:name/redrive/cancel"],
  ])("is in that of %s to who may, and another word stands for it to who may not", async (route) => {
    expect(await answerTo("first", "/__sluice", route, OWN)).toContain(OTHER);
    expect(await answerTo("shop", "/__sluice", route, OWN)).toContain(ANOTHER_QUEUE);
  });
});

describe("a filter by a queue that a token may not use", () => {
  const looks = [
    ["GET /api/queues/:name/messages?filter=from%3A", () => ({})],
    ["POST /api/queues/:name/redrive", (filter: string) => ({ dryRun: true, filter })],
  ] as const;

  it.each(looks)("finds as little with %s as one by a queue that there is not", async (route, bodyOf) => {
    const found = (token: string, queue: string) => {
      const path = route.endsWith("%3A") ? `${route}${queue}` : route;
      return answerTo(token, "/__sluice", path, OWN, bodyOf(`from:${queue}`));
    };
    expect(await found("first", OTHER)).toContain(`"from":"${OTHER}"`);
    expect(await found("shop", OTHER)).toBe(await found("shop", "no-queue"));
    expect(await found("shop", OTHER)).toContain('"messages":[]');
  });
});

describe("over SQS, the name of a queue that a key may not use", () => {
  const arnOf = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

  /** A client by the rights of its key, at a broker where the other queue has `mail-dead` as its dead-letter queue. */
  function clientOf(queues: readonly string[]): SqsClient {
    const received: ReceiveReply = {
      kind: "received",
      receipts: ["r"],
      receiveCounts: [1],
      firstReceivedMs: [0],
      packed: LETTER,
      sequenceNumbers: null,
    };
    const objects = { listMoves: async () => [MOVE], receiveNow: async () => [received] };
    const sqs = new SqsClient({ key: { scopes: ["admin"], queues }, objects });
    const records: QueueRecord[] = [recordOf(OWN, DEAD), recordOf(OTHER, ORDERS_DYING)];
    for (const record of records) sqs.account.put(record);
    return sqs;
  }

  it.each([
    ["ListMessageMoveTasks", { SourceArn: arnOf(OWN) }],
    ["ReceiveMessage", { QueueUrl: `http://localhost/000000000000/${OWN}`, AttributeNames: ["All"] }],
  ])("is in no answer of %s, and in that to who may", async (action, input) => {
    expect(JSON.stringify(await clientOf([]).call(action, input))).toContain(OTHER);
    expect(JSON.stringify(await clientOf(["mail-*"]).call(action, input))).not.toContain(OTHER);
  });
});
