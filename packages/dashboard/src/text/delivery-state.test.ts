import { describe, expect, it } from "vitest";
import { queueView } from "../../test/views.ts";
import { type DeliveryState, stateOfQueue } from "./delivery-state.ts";

const NOW = "2026-11-21T12:00:00.000Z";
const LATER = "2026-11-21T12:00:05.000Z";

type Queue = Parameters<typeof stateOfQueue>[0];

const HEALTH: NonNullable<Queue["health"]> = {
  present: true,
  inFlight: 0,
  consecutiveFailures: 0,
  next: null,
  lastDelivery: { endedAt: NOW, failure: null, acked: 2, messages: 2 },
};

function queue(changes: Partial<Queue>, deliveryPaused = false): Queue {
  const { settings, ...view } = queueView();
  return { ...view, settings: { ...settings, deliveryPaused }, ...changes };
}

const WAITING = { ready: 1, delayed: 1, leased: 0 };
const PRODUCERS = [{ worker: "shop", binding: "ORDERS" }];
const SETTINGS = { maxBatchSize: 1, maxRetries: 3, retryDelaySeconds: 0, deadLetterQueue: null };
const PULL = { type: "http_pull", settings: { ...SETTINGS, visibilityTimeoutMs: 0 } } as const;

describe("the state of a queue", () => {
  it.each<[string, Queue, DeliveryState["tone"], string, string]>([
    [
      "an endpoint that is well, while the queue is paused",
      queue({ health: HEALTH }, true),
      "warn",
      "Paused",
      "",
    ],
    [
      "messages that wait while the queue is paused",
      queue({ messages: WAITING }, true),
      "warn",
      "Paused",
      "2 messages wait",
    ],
    [
      "an endpoint that is away",
      queue({ health: { ...HEALTH, present: false, next: { waitsFor: "return", at: LATER } } }),
      ...(["bad", "Away", "asked again in 5 s"] as const),
    ],
    [
      "an endpoint that fails",
      queue({
        health: { ...HEALTH, consecutiveFailures: 3, next: { waitsFor: "due", at: LATER } },
        messages: WAITING,
      }),
      ...(["warn", "Failing", "3 in a row, next delivery in 5 s"] as const),
    ],
    [
      "an endpoint that fails for a reason",
      queue({
        health: {
          ...HEALTH,
          consecutiveFailures: 2,
          lastDelivery: { endedAt: NOW, failure: `Error: ${"x".repeat(99)}`, acked: 0, messages: 1 },
        },
        messages: WAITING,
      }),
      ...(["warn", "Failing", `2 in a row: Error: ${"x".repeat(99)}`] as const),
    ],
    [
      "an endpoint that has failed once",
      queue({ health: { ...HEALTH, consecutiveFailures: 1 }, messages: WAITING }),
      "warn",
      "Failing",
      "",
    ],
    [
      "requests that are open",
      queue({ health: { ...HEALTH, inFlight: 2 } }),
      ...(["busy", "Delivering", "2 under way"] as const),
    ],
    [
      "a rate that is used up",
      queue({ health: { ...HEALTH, next: { waitsFor: "slot", at: LATER } } }),
      ...(["busy", "At its rate", "next slot in 5 s"] as const),
    ],
    [
      "an endpoint without a delivery yet",
      queue({ health: { ...HEALTH, lastDelivery: null } }),
      "quiet",
      "Idle",
      "no delivery known",
    ],
    [
      "messages that wait for a first delivery",
      queue({
        health: { ...HEALTH, lastDelivery: null, next: { waitsFor: "due", at: LATER } },
        messages: WAITING,
      }),
      ...(["busy", "Waiting", "next delivery in 5 s"] as const),
    ],
    [
      "a delivery that asked for retries",
      queue({
        health: { ...HEALTH, lastDelivery: { endedAt: NOW, failure: null, acked: 0, messages: 2 } },
        messages: WAITING,
      }),
      ...(["warn", "Retrying", "0 of 2 acknowledged"] as const),
    ],
    [
      "deliveries that failed before the queue was empty",
      queue({
        now: LATER,
        health: {
          ...HEALTH,
          consecutiveFailures: 3,
          lastDelivery: { endedAt: NOW, failure: "Error: no", acked: 0, messages: 1 },
        },
      }),
      ...(["quiet", "Idle", "3 deliveries in a row failed, the last 5 s ago: Error: no"] as const),
    ],
    [
      "a delivery that asked for retries, once, before the queue was empty",
      queue({
        now: LATER,
        health: { ...HEALTH, lastDelivery: { endedAt: NOW, failure: null, acked: 1, messages: 2 } },
      }),
      ...(["quiet", "Idle", "1 of 2 acknowledged 5 s ago"] as const),
    ],
    [
      "an endpoint that fails while it is asked again",
      queue({
        health: { ...HEALTH, inFlight: 1, consecutiveFailures: 77, next: { waitsFor: "due", at: LATER } },
        messages: { ready: 0, delayed: 0, leased: 1 },
      }),
      ...(["warn", "Failing", "77 in a row, 1 under way"] as const),
    ],
    [
      "a message that waits while the queue is paused",
      queue({ messages: { ready: 1, delayed: 0, leased: 0 } }, true),
      "warn",
      "Paused",
      "1 message waits",
    ],
    ["a delivery that went well", queue({ health: HEALTH }), "good", "OK", ""],
    ["clients that pull", queue({ consumer: PULL, messages: WAITING }), "quiet", "Pulled", ""],
    ["a queue of SQS, which has no consumer", queue({ messages: WAITING }), "quiet", "–", ""],
    [
      "dead letters without a consumer",
      queue({ deadLettersOf: { queues: ["orders"], subscriptions: [] }, messages: WAITING }),
      ...(["bad", "Dead letters", "look why, then redrive"] as const),
    ],
    [
      "messages of a binding without a consumer",
      queue({ producers: PRODUCERS, messages: WAITING }),
      ...(["warn", "No consumer", "messages wait"] as const),
    ],
  ])("names %s", (_what, given, tone, word, detail) => {
    expect(stateOfQueue(given)).toEqual({ tone, word, detail });
  });
});
