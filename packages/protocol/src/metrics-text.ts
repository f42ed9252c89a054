import type { BacklogMetrics } from "./rpc.ts";

/** Backlog figures as one text: three numbers and blanks. */
export function metricsText({
  backlogCount,
  backlogBytes,
  oldestMessageTimestampMs,
}: BacklogMetrics): string {
  return `${backlogCount} ${backlogBytes} ${oldestMessageTimestampMs}`;
}

/** What `metricsText` was made of. */
export function readMetricsText(text: string): BacklogMetrics {
  const [count, bytes, oldestMs] = text.split(" ");
  return {
    backlogCount: Number(count),
    backlogBytes: Number(bytes),
    oldestMessageTimestampMs: Number(oldestMs),
  };
}
