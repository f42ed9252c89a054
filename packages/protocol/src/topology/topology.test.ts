import { expect, it } from "vitest";
import { topologyFingerprint } from "./fingerprint.ts";
import { canonicalJson } from "./topology.ts";

const queue = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null };

it("is the same for the same queues, in whatever order they are written", async () => {
  const { consumer, producers, ...rest } = queue;
  expect(await topologyFingerprint({ queues: { a: queue, b: queue } })).toBe(
    await topologyFingerprint({ queues: { b: { consumer, producers, ...rest }, a: queue } }),
  );
});

it("is another one for other queues, or for the same with another setting", async () => {
  const topologies = [
    { queues: {} },
    { queues: { a: queue } },
    { queues: { b: queue } },
    { queues: { a: { ...queue, deliveryDelaySeconds: 1 } } },
    { queues: { a: { ...queue, producers: [{ worker: "w", binding: "A" }] } } },
  ];
  const fingerprints = await Promise.all(topologies.map(topologyFingerprint));
  expect(new Set(fingerprints).size).toBe(topologies.length);
  expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/);
});

it("keeps the order of lists, which means something", () => {
  expect(canonicalJson({ b: [2, 1], a: { d: null, c: 1 } })).toBe('{"a":{"c":1,"d":null},"b":[2,1]}');
});
