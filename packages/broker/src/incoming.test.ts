import { createQueue } from "@sluice/engine";
import { PackedIndex, packMessages, unpackMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { SEGMENT_BYTES_MAX, storeIncoming } from "./incoming.ts";
import { PayloadCache } from "./payload-cache.ts";
import { rulesOf } from "./rules.ts";

function packed(count: number, bodyBytes: number): PackedIndex {
  const messages = Array.from({ length: count }, (_, i) => ({
    id: i.toString(16).padStart(32, "0"),
    contentType: "bytes" as const,
    body: new Uint8Array(bodyBytes).fill(i),
  }));
  return new PackedIndex(packMessages(messages));
}

/** Stores and returns the payloads, oldest segment first. */
function store(...indexes: PackedIndex[]): Uint8Array[] {
  const queue = createQueue(rulesOf(undefined), 1);
  const cache = new PayloadCache();
  const payloadOf = (id: number) => cache.get(id) ?? new PackedIndex(new Uint8Array());
  storeIncoming(
    queue,
    indexes.map((index) => ({ index, delaySeconds: 0 })),
    payloadOf,
    cache,
    1000,
  );
  return [...queue.segments.keys()].map((id) => payloadOf(id).packed);
}

describe("storeIncoming", () => {
  it("joins what one commit takes in as long as it fits into one segment", () => {
    const payloads = store(packed(2, 100), packed(3, 100));
    expect(payloads.map((payload) => unpackMessages(payload).length)).toEqual([5]);
  });

  it("cuts a request that is larger than a segment between its records", () => {
    const payloads = store(packed(40, 127_000));
    expect(payloads.length).toBeGreaterThan(1);
    for (const payload of payloads) expect(payload.byteLength).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    const ids = payloads.flatMap((payload) =>
      unpackMessages(payload).map(({ id }) => Number.parseInt(id, 16)),
    );
    expect(ids).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it("stamps each message with the time of the send", () => {
    const [payload = new Uint8Array()] = store(packed(2, 10));
    expect(unpackMessages(payload).map(({ timestampMs }) => timestampMs)).toEqual([1000, 1000]);
  });
});
