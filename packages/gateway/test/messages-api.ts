import { type PullReply, type SendReply, type SendRequest, unpackMessages } from "@sluice/protocol";
import { expect } from "vitest";
import type { QueueDirectory } from "../src/account/queue-directory.ts";
import { createGateway } from "../src/index.ts";
import { directoryOf, OPEN, ORDERS, queueWith, recordOf } from "./directory.ts";

export const ID = recordOf("orders", ORDERS).queueId;
export const METRICS = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestampMs: 7 };
export const METRICS_VIEW = { backlog_count: 2, backlog_bytes: 30, oldest_message_timestamp_ms: 7 };

export type QueueObject = ReturnType<QueueDirectory["queue"]>;
export interface MessagesBody {
  success: boolean;
  errors: { code: number; message: string }[];
  result: Record<string, unknown>;
}

/** Posts to a path of a queue's messages, and answers with the reply and what the queue's object was called with. */
export async function ask(path: string, body: unknown, changes: Partial<QueueObject> = {}, queueId = ID) {
  const calls: unknown[] = [];
  const note =
    <Reply>(reply: Reply) =>
    async (_queue: string, what: unknown): Promise<Reply> => {
      calls.push(what);
      return reply;
    };
  const directory = directoryOf();
  const none = { packed: new Uint8Array(), attempts: [] };
  const object = queueWith({
    send: note<SendReply>({ ok: true, metrics: METRICS }),
    pull: note<PullReply>({ ok: true, batch: { ...none, leaseIds: [], metrics: METRICS } }),
    settleLeases: note({ ackCount: 1, retryCount: 2, warnings: [["x", "gone"] as const] }),
    peek: note({ ...none, refs: [] }),
    deleteByRefs: note({ deleted: 1, warnings: [["r", "gone"] as const] }),
    ...changes,
  });
  const response = await createGateway({ ...directory, queue: () => object }, OPEN).request(
    `http://localhost/__sluice/client/v4/accounts/any/queues/${queueId}/messages${path}`,
    {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "text/plain" },
    },
  );
  return { status: response.status, answer: (await response.json()) as MessagesBody, calls };
}

/** Status, code and text of a refusal, after a look that nothing has reached the queue. */
export async function refusal(path: string, body: unknown, changes: Partial<QueueObject> = {}, queueId = ID) {
  const { status, answer, calls } = await ask(path, body, changes, queueId);
  expect(answer).toMatchObject({ success: false, messages: [], result: null });
  expect(calls).toEqual([]);
  return [status, answer.errors[0]?.code, answer.errors[0]?.message];
}

export const sentBy = (calls: readonly unknown[]) =>
  (calls as SendRequest[][]).flat().map(({ packed }) => unpackMessages(packed));
export const text = (length: number) => ({ body: "x".repeat(length), content_type: "text" });
export const decode = (body: Uint8Array | undefined) => new TextDecoder().decode(body);
