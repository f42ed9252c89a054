import { expect, it } from "vitest";
import { metricsText, readMetricsText } from "./send.ts";

it.each([
  { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 },
  { backlogCount: 1, backlogBytes: 2, oldestMessageTimestampMs: 1_763_700_000_000 },
  {
    backlogCount: Number.MAX_SAFE_INTEGER,
    backlogBytes: Number.MAX_SAFE_INTEGER,
    oldestMessageTimestampMs: 8.64e15,
  },
])("backlog figures are read back from their text: %o", (metrics) => {
  expect(readMetricsText(metricsText(metrics))).toEqual(metrics);
});
