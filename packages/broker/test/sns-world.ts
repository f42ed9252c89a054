import { encodeAttributes, type StoredAttributes, type StoredNotification } from "@sluice/aws";
import {
  type HttpPushSettings,
  type PackedIndex,
  packMessages,
  type QueueDefinition,
} from "@sluice/protocol";
import { SNS_DEFAULTS, SNS_PRESETS } from "@sluice/retry";
import type { EndpointOutcome } from "../src/endpoint/endpoint.ts";
import { endpoint, testId } from "./messages.ts";
import { World } from "./world.ts";

export const QUEUE = "subscription/1";
export const LIFE_SECONDS = 3_600;
export const NOTIFICATION: StoredNotification = {
  type: "Notification",
  topicArn: "arn:aws:sns:us-east-1:000000000000:orders",
  subscriptionArn: "arn:aws:sns:us-east-1:000000000000:orders:1",
  isRaw: false,
};
export const DEFAULTS = { kind: "sns", ...SNS_DEFAULTS, jitter: "none" } as const;
export const SAMPLE = { kind: "sns", ...SNS_PRESETS["sns-http-sample"], jitter: "none" } as const;

export function worldWith(
  settings: Partial<HttpPushSettings> = {},
  queue: Partial<QueueDefinition> = {},
): World {
  const consumer = endpoint({
    format: "sns",
    contentType: "text/plain; charset=UTF-8",
    responseTimeoutSeconds: 15,
    retryPolicy: DEFAULTS,
    deadLetterQueue: "dead",
    ...settings,
  });
  return new World({ [QUEUE]: { messageRetentionSeconds: LIFE_SECONDS, ...queue, consumer }, dead: {} });
}

/** Publishes messages as a topic hands them over. Answers their ids. */
export async function publish(
  world: World,
  bodies: readonly string[],
  { notification = NOTIFICATION, attributes = {} }: Partial<StoredAttributes> = {},
): Promise<string[]> {
  const stored = encodeAttributes({ attributes, traceHeader: null, notification });
  const records = bodies.map((body) => ({
    id: testId(),
    contentType: "text" as const,
    body: new TextEncoder().encode(body),
    timestampMs: world.nowMs,
    extension: stored === undefined ? {} : { attributes: stored },
  }));
  nextTransfer += 1;
  await world
    .core(QUEUE)
    .inbox.accept({ source: "topic/1", id: nextTransfer, packed: packMessages(records) });
  return records.map(({ id }) => id);
}
export let nextTransfer = 0;

/** Lists the messages in the dead-letter queue. */
export function deadLetters(world: World) {
  const { queue, payloadOf } = world.core("dead");
  return [...queue.segments.values()].flatMap(({ id, count }) => {
    const payload: PackedIndex = payloadOf(id);
    return Array.from({ length: count }, (_, i) => ({
      ...payload.message(i),
      text: new TextDecoder().decode(payload.message(i).body),
      extension: payload.extension(i),
    }));
  });
}

/** An endpoint that takes the request and never answers. */
export function hangs(world: World): void {
  world.answer = ({ responseTimeoutMs }) => {
    const answer = Promise.withResolvers<EndpointOutcome>();
    pending.push({ atMs: world.nowMs + responseTimeoutMs, answer });
    return answer.promise;
  };
  const pending: { atMs: number; answer: PromiseWithResolvers<EndpointOutcome> }[] = [];
  const pass = world.pass.bind(world);
  world.pass = async (ms) => {
    const untilMs = world.nowMs + ms;
    for (;;) {
      await world.quiet();
      const next = pending[0];
      if (next === undefined || next.atMs > untilMs) break;
      await pass(next.atMs - world.nowMs);
      pending.shift();
      next.answer.resolve({ kind: "timedOut", reason: "it did not answer within 15 s" });
      await world.quiet();
      // Without an answer under way, it is the queue's alarm that decides when the next request is made.
      while (pending.length === 0 && world.nowMs < untilMs) {
        await pass(Math.min(untilMs - world.nowMs, Math.max(0, world.alarmIn(QUEUE) ?? Infinity)));
        if (world.alarmIn(QUEUE) === null) break;
      }
    }
    if (world.nowMs < untilMs) await pass(untilMs - world.nowMs);
  };
}
