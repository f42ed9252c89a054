import type { Line } from "@sluice/harness/report";
import type { Summary } from "./ledger/delivery-ledger.ts";
import type { SqsSummary } from "./sqs/receive-ledger.ts";

/** Makes the lines of the report that every run has. */
export function summaryLines(summary: Summary | SqsSummary): Line[] {
  return [
    ["messages sent", summary.sent],
    ["acknowledged to their producer", summary.acknowledged],
    ["acknowledged and lost", summary.lost],
    ["refused with an error", summary.refused],
    ["not answered", summary.unanswered],
    ["  of these stored all the same", summary.unansweredButStored],
    ...("duplicates" in summary ? deliveryLines(summary) : receiveLines(summary)),
  ];
}

function deliveryLines({ deadLettered, duplicates, oldestLostAckMs, violations }: Summary): Line[] {
  return [
    ["moved to the dead-letter queue", deadLettered],
    ...Object.entries(duplicates).map(([cause, count]): Line => [`delivered twice: ${cause}`, count]),
    ["  oldest acknowledgement that was lost, before the kill", `${oldestLostAckMs} ms`],
    ["violations (delays, attempts, acknowledgements, bodies)", violations],
  ];
}

function receiveLines({ resent, received, deleted, again, late, violations }: SqsSummary): Line[] {
  return [
    ["sent again with their deduplication id", resent],
    ["received", received],
    ["deleted for good", deleted],
    ...Object.entries(again).map(([why, count]): Line => [`came again: ${why}`, count]),
    ["answers overtaken by those of a later receive", late],
    ["violations (deletions, leases, order, delays, counts, bodies)", violations],
  ];
}
