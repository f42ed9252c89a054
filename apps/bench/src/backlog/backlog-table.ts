import { count } from "../report/figures.ts";
import { markdownTable } from "../report/markdown-table.ts";
import type { Backlog, BacklogFigures } from "./measure-backlog.ts";

const HEADER = [
  "in the queue",
  "sent/s, batches of 100",
  "sent/s, 50 requests",
  "handled/s",
  "process MB",
  "object start ms",
  "process start ms",
  "to first delivery ms",
];

export function backlogTable(figures: readonly BacklogFigures[]): string {
  return markdownTable(
    HEADER,
    figures.map((each) => [
      nameOf(each.backlog),
      count(each.enqueuedPerSecond),
      count(each.singleEnqueuedPerSecond),
      count(each.dequeuedPerSecond),
      each.residentBytes === null ? "-" : (each.residentBytes / 1_000_000).toFixed(1),
      count(each.objectStartMs),
      count(each.processStartMs),
      count(each.firstDeliveryMs),
    ]),
  );
}

export function nameOf({ kind, messages }: Backlog): string {
  return messages === 0 ? "nothing" : `${count(messages)} ${kind}`;
}
