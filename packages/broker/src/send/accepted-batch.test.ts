import { createQueue, messageRanges } from "@sluice/engine";
import { PackedIndex, packMessages, unpackMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packTexts, type SendOptions } from "../../test/messages.ts";
import { PayloadCache } from "../store/payload-cache.ts";
import { rulesOf } from "../turn/rules.ts";
import { type AcceptedBatch, placeBatches, SEGMENT_BYTES_MAX } from "./accepted-batch.ts";

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
  placeBatches(
    queue,
    indexes.map((index) => ({ index, delaySeconds: 0 })),
    payloadOf,
    cache,
    1000,
  );
  return [...queue.segments.keys()].map((id) => payloadOf(id).packed);
}

describe("placeBatches", () => {
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

  it.each([
    [SEGMENT_BYTES_MAX - 1, 1],
    [SEGMENT_BYTES_MAX, 1],
    [SEGMENT_BYTES_MAX + 1, 2],
  ])("joins batches of %i bytes in all into %i segment(s)", (bytes, segments) => {
    const first = packed(3, 100_000);
    const second = packed(2, 1);
    const rest = bytes - first.packed.byteLength - second.packed.byteLength - 40;
    expect(store(first, second, packed(1, rest))).toHaveLength(segments);
  });

  it("fills every segment to the byte, not only the first one", () => {
    const quarter = packed(1, SEGMENT_BYTES_MAX / 4 - 40);
    expect(store(...Array<PackedIndex>(8).fill(quarter))).toHaveLength(2);
    const all = packMessages(
      Array.from({ length: 8 }, (_, i) => ({
        id: `${i}`.padStart(32, "0"),
        contentType: "bytes" as const,
        body: new Uint8Array(SEGMENT_BYTES_MAX / 4 - 40),
      })),
    );
    const lengths = store(new PackedIndex(all)).map(({ byteLength }) => byteLength);
    expect(lengths).toEqual([SEGMENT_BYTES_MAX, SEGMENT_BYTES_MAX]);
  });

  it.each([
    [SEGMENT_BYTES_MAX - 1, 1],
    [SEGMENT_BYTES_MAX, 1],
    [SEGMENT_BYTES_MAX + 1, 2],
  ])("stores one request of %i bytes in %i segment(s)", (bytes, segments) => {
    const messages = [100_000, 100_000, 100_000, 100_000, bytes - 400_000 - 5 * 40].map((size, i) => ({
      id: `${i}`.padStart(32, "0"),
      contentType: "bytes" as const,
      body: new Uint8Array(size),
    }));
    const payloads = store(new PackedIndex(packMessages(messages)));
    expect(payloads.map(({ byteLength }) => byteLength).reduce((a, b) => a + b)).toBe(bytes);
    expect(payloads).toHaveLength(segments);
  });
});

describe("records of messages with delays", () => {
  const T0 = 1_000;

  function incoming(bodies: readonly string[], options: SendOptions = {}): AcceptedBatch {
    return { index: new PackedIndex(packTexts(bodies, options)), delaySeconds: options.delaySeconds ?? 0 };
  }

  /** Bodies and due times, in ms from now, of every segment. */
  function stored(...commits: AcceptedBatch[][]): [body: string, dueMs: number][][] {
    const queue = createQueue(rulesOf(undefined), 1);
    const cache = new PayloadCache();
    const payloadOf = (id: number) => cache.get(id) ?? new PackedIndex(new Uint8Array());
    for (const commit of commits) placeBatches(queue, commit, payloadOf, cache, T0);
    return [...queue.segments.values()].map((segment) =>
      unpackMessages(payloadOf(segment.id).packed).map(({ body }, i) => [
        new TextDecoder().decode(body),
        segment.dueOf(i) - T0,
      ]),
    );
  }

  it("are due after their own delay, or their batch's; an explicit 0 is one's own", () => {
    const batch = incoming(["own", "batch", "now"], { delaySeconds: 20, ownDelays: [10, undefined, 0] });
    expect(stored([batch])).toEqual([
      [
        ["now", 0],
        ["own", 10_000],
        ["batch", 20_000],
      ],
    ]);
  });

  it("lie in the order of their due times, also across the batches of a commit", () => {
    const [first, second] = [
      incoming(["c", "a"], { ownDelays: [9, 1] }),
      incoming(["b", "d"], { ownDelays: [5, 10] }),
    ];
    expect(stored([first, second])).toEqual([
      [
        ["a", 1_000],
        ["b", 5_000],
        ["c", 9_000],
        ["d", 10_000],
      ],
    ]);
  });

  it("are put behind those that a small segment has already", () => {
    const [first, second] = [incoming(["a"]), incoming(["c", "b"], { ownDelays: [1, 0] })];
    expect(stored([first], [second])).toEqual([
      [
        ["a", 0],
        ["b", 0],
        ["c", 1_000],
      ],
    ]);
  });

  it("exported records keep their attempts, in whatever order they are stored", () => {
    const queue = createQueue(rulesOf(undefined), 1);
    const cache = new PayloadCache();
    const batch = { ...incoming(["c", "a", "b"], { ownDelays: [9, 0, 5] }), attempts: [3, 0, 1] };
    placeBatches(queue, [batch], (id) => cache.get(id) ?? new PackedIndex(new Uint8Array()), cache, 1000);
    const attempts = [...messageRanges(queue)].flatMap(({ from, to, attempts }) =>
      Array.from({ length: to - from }, () => attempts),
    );
    // In the order of their due times: a, b, c.
    expect(attempts).toEqual([0, 1, 3]);
  });

  it("go into another segment when they are due before those that are there", () => {
    expect(stored([incoming(["late"], { delaySeconds: 5 })], [incoming(["early"])])).toEqual([
      [["late", 5_000]],
      [["early", 0]],
    ]);
  });
});
