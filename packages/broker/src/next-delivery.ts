import type { NextDelivery } from "@sluice/protocol";
import type { QueueCore } from "./queue-core.ts";

/** What is delivered next, and when, given when it is due in ms: the queue's rate may keep it longer. For people. */
export function nextDelivery({ throttled, nowMs }: QueueCore, dueMs: number | null): NextDelivery | null {
  if (dueMs === null) return null;
  const readyMs = Math.max(dueMs, nowMs);
  return throttled.nextMs > readyMs
    ? { waitsFor: "slot", atMs: throttled.nextMs }
    : { waitsFor: "due", atMs: readyMs };
}
