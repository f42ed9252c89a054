import { PackedIndex, packMessages } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { type World, worldWithHistory } from "../../test/world.ts";
import type { History } from "../history/history.ts";
import { idsIn, type NotedEvent, positionsOf } from "../history/journal/event.ts";
import { QUIET_UNITS_PER_SECOND_MAX, unitsOf } from "../history/quiet-events.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import { NAMED_BYTES_MAX, NAMED_MAX, noteSlices } from "./note-slices.ts";

/** Sends of 100 messages at one moment beyond which single messages are not noted. */
const RUSH_SENDS = Math.ceil(
  QUIET_UNITS_PER_SECOND_MAX / unitsOf({ at: [1, 0, 100], ids: "0".repeat(3_200) }),
);

type Range = Parameters<typeof noteSlices>[2][number];

/** Records of a segment, from index 0 on. @param bytes of all of them. */
function packed(segmentId: number, count: number, bytes = 0): PackedIndex {
  const pack = (body: Uint8Array) =>
    packMessages(
      Array.from({ length: count }, (_, i) => ({
        id: nameOf(segmentId, i),
        contentType: "bytes",
        body: i === 0 ? body : new Uint8Array(),
      })),
    );
  const least = pack(new Uint8Array()).byteLength;
  return new PackedIndex(pack(new Uint8Array(Math.max(0, bytes - least))));
}

const SEGMENTS = [0, 2, 4].map((segmentId) => packed(segmentId, NAMED_MAX + 1));

/** Notes ranges of segments; those of the odd ones cannot be read. @returns the events. */
function noted(
  ranges: readonly Range[],
  payload = (id: number) => SEGMENTS[id / 2] as PackedIndex,
): NotedEvent[] {
  const events: NotedEvent[] = [];
  const payloadOf = (segmentId: number) => {
    if (segmentId % 2 === 1) throw new Error("damaged");
    return payload(segmentId);
  };
  const record = (event: NotedEvent) => events.push(event);
  noteSlices({ history: { isOn: true, record } as unknown as History, payloadOf }, "expired", ranges);
  return events;
}

function nameOf(segmentId: number, index: number): string {
  return `${segmentId}`.padStart(16, "0") + `${index}`.padStart(16, "0");
}

function idsOf(events: readonly NotedEvent[]): string[] {
  return events.flatMap(({ ids = "" }) => idsIn(ids));
}

/** Names of the messages at the positions of an event, in their order. */
function namesAt({ at = [] }: Pick<NotedEvent, "at">): string[] {
  return Array.from({ length: at.length / 3 }, (_, i) => at.slice(3 * i, 3 * i + 3)).flatMap(
    ([segmentId = 0, from = 0, to = 0]) =>
      Array.from({ length: to - from }, (_, i) => nameOf(segmentId, from + i)),
  );
}

describe("messages whose bytes nobody looks at", () => {
  it("are noted each once, with the ids of the first ones that can be read, in the order of their places", () => {
    const range = fc
      .tuple(fc.nat(5), fc.nat(50), fc.integer({ min: 1, max: 400 }))
      .map(([segmentId, from, length]) => ({ segmentId, from, to: from + length }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), (ranges) => {
        const events = noted(ranges);
        const all = ranges.flatMap((one) => namesAt({ at: positionsOf([one]) }));
        expect(events.flatMap(namesAt).sort()).toEqual([...all].sort());
        for (const event of events) {
          expect(event.count).toBe(namesAt(event).length);
          if (event.ids === undefined) continue;
          expect(idsIn(event.ids)).toEqual(namesAt(event));
          expect(event.count).toBeLessThanOrEqual(100);
        }
        const first = all.slice(0, NAMED_MAX).filter((name) => Number(name.slice(0, 16)) % 2 === 0);
        expect(idsOf(events).sort()).toEqual(first.sort());
      }),
    );
  });

  it.each([-1, 0, 1])("are named up to a limit, at %i of it", (more) => {
    const events = noted([{ segmentId: 2, from: 0, to: NAMED_MAX + more }]);
    expect(idsOf(events)).toHaveLength(Math.min(NAMED_MAX, NAMED_MAX + more));
    expect(events.filter(({ ids }) => ids === undefined)).toHaveLength(more > 0 ? 1 : 0);
  });

  it.each([-1, 0, 1])("are named as long as less than a limit is read, at %i bytes of it", (more) => {
    const ranges = [2, 4].map((segmentId) => ({ segmentId, from: 0, to: 1 }));
    const events = noted(ranges, (segmentId) => packed(segmentId, 1, NAMED_BYTES_MAX + more));
    expect(idsOf(events)).toHaveLength(more < 0 ? 2 : 1);
  });
});

/** Sends more at one moment than is noted one by one, and a message behind it. @returns its id. */
async function sendAfterRush(world: World, delaySeconds = 0, sends = RUSH_SENDS) {
  const rush = Array<string>(100).fill("rush");
  for (let i = 0; i < sends; i++) await world.send("orders", rush);
  await world.send("orders", ["mine"], { ownDelays: [delaySeconds] });
  const all = world.core("orders").messages.look({ max: 100, filter: [{ field: "body", text: "mine" }] });
  return all.messages[0]?.id ?? "";
}

function storyOf(world: World, id: string) {
  return world.core("orders").history.story(id).events;
}

describe("a message whose send and deliveries were too many to keep has in its story that", () => {
  it("it was made due by hand", async () => {
    const world = worldWithHistory({ orders: {} });
    const id = await sendAfterRush(world, 500);
    expect(storyOf(world, id)).toEqual([]);
    const { messages } = world.core("orders");
    const [{ ref = "" } = {}] = messages.look({ max: 1, only: [id] }).messages;
    expect(await messages.makeDue([ref])).toEqual(["due"]);
    expect(storyOf(world, id)).toMatchObject([{ kind: "retried", by: "admin API", delayMs: 0, ids: [id] }]);
  });

  it("it has expired", async () => {
    const world = worldWithHistory({ orders: { messageRetentionSeconds: 60 } });
    await sendAfterRush(world);
    await world.core("orders").purge();
    const id = await sendAfterRush(world, 0, 0);
    expect(storyOf(world, id)).toEqual([]);
    await world.pass(61_000);
    expect(storyOf(world, id)).toMatchObject([{ kind: "expired", ids: [id] }]);
  });

  it("the broker stopped during its delivery", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) } });
    world.handler = ({ messages }) =>
      messages.some(({ body }) => body === "mine") ? new Promise(() => {}) : {};
    const id = await sendAfterRush(world);
    await world.quiet();
    expect(storyOf(world, id)).toEqual([]);
    world.crash("orders");
    world.handler = () => ({});
    await world.pass(HEARTBEAT_MS);
    expect(storyOf(world, id).map(({ kind, delayReason }) => [kind, delayReason])).toContainEqual([
      "retried",
      "restart",
    ]);
  });
});
