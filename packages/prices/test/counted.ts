import type { CountedQueue } from "../src/costs.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
export const TENTH = Date.parse("2026-11-11T00:00:00Z");

/** Makes a queue with what it has used since `START`. */
export function counted(name: string, changes: Partial<CountedQueue["usage"]> = {}): CountedQueue {
  const usage = {
    month: "2026-11",
    sinceMs: START,
    rowsWritten: 30e6,
    rowsRead: 1e6,
    requests: 1e6,
    awakeMs: 1e6,
    messages: 20e6,
    messageBytes: 4e9,
    messageChunks: 20e6,
    deliveries: 20e6,
    ...changes,
  };
  return { name, kind: "standard", usage };
}
