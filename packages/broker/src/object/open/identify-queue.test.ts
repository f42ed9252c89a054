import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../../test/memory-store.ts";
import { logDropped } from "./identify-queue.ts";

/** A store in which a message waits, is on its way to another queue, or has left. */
async function storeWith(contents: "nothing" | "a message" | "a transfer" | "a message that has left") {
  const store = new MemoryStore();
  store.writeEpoch(1, "q");
  const bytes = new Uint8Array([1]);
  await store.commit(() => {
    if (contents.startsWith("a message")) store.insertSegment(1, bytes, null, bytes);
    if (contents === "a transfer") store.insertOutbox({ id: 1, target: "dead", payload: bytes });
  });
  if (contents === "a message that has left") await store.commit(() => store.deleteSegment(1, false));
  return store;
}

describe("what a queue that is gone has left", () => {
  it.each([
    ["q", "a message", ['warn Queue "q" was deleted; what it held is dropped']],
    ["q", "a transfer", ['warn Queue "q" was deleted; what it held is dropped']],
    ["q#99", "a message", ['warn Queue "q#99" was deleted; what it held is dropped']],
    ["q", "nothing", ['info Queue "q" was deleted; it held no messages']],
    ["q#99", "nothing", ['info Shard 99 of queue "q" is gone; it held no messages']],
    ["q#99", "a message that has left", ['info Shard 99 of queue "q" is gone; it held no messages']],
  ] as const)("of %s with %s is worth a warning if it had messages", async (name, contents, expected) => {
    const lines: string[] = [];
    const log = {
      info: (text: string) => void lines.push(`info ${text}`),
      warn: (text: string) => void lines.push(`warn ${text}`),
    };
    logDropped(name, await storeWith(contents), log);
    expect(lines).toEqual(expected);
  });
});
