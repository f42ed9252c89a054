import { expect, it } from "vitest";
import { queuesOf } from "./alerts-queue.ts";
import { topologyFingerprint } from "./fingerprint.ts";
import type { QueueTopology } from "./topology.ts";

it("the fingerprint of a topology covers the queue that alerts wait in", async () => {
  const alerts = { url: "https://hooks.shop.example", format: "webhook", deadLetters: true } as const;
  const topology: QueueTopology = { queues: {}, alerts };
  const whole = { ...topology, queues: queuesOf(topology) };
  expect(await topologyFingerprint(topology)).toBe(await topologyFingerprint(whole));
});
