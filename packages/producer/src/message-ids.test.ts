import { expect, it } from "vitest";
import { takeMessageIds } from "./message-ids.ts";

it("ids are 16 bytes each and never the same, whatever is taken at a time", () => {
  const seen = new Set<string>();
  const counts = [1, 100, 100, 100, 3, 256, 1, 255, 1];
  for (const count of counts) {
    const ids = Buffer.from(takeMessageIds(count));
    expect(ids).toHaveLength(16 * count);
    for (let i = 0; i < count; i++) seen.add(ids.toString("hex", 16 * i, 16 * (i + 1)));
  }
  expect(seen.size).toBe(counts.reduce((a, b) => a + b));
});
