import { createQueue, restoreSegment } from "@sluice/engine";
import { type InDelivery, workerOf } from "@sluice/protocol";
import { SELECT_TOUCHED_SEGMENTS, type TouchedSegmentRow } from "../store/mark.ts";
import { recordFrom, SELECT_RECORD } from "../store/record-copy.ts";
import { rulesOf } from "../turn/rules.ts";

/** SQL on the file of an object that does not run. */
type Sql = Pick<SqlStorage, "exec">;

/**
 * Reads what is in delivery from a queue's file: a process that hangs or was killed answers no calls. A lease is stored
 * before its delivery begins. Returns `null` if nothing is in delivery.
 *
 * @throws for a file that is damaged, and one of no queue.
 */
export function readInDelivery(sql: Sql): InDelivery | null {
  const [row] = sql.exec<{ value: string }>(SELECT_RECORD).toArray();
  const record = row === undefined ? null : recordFrom(row.value);
  if (record === null) return null;
  const { consumer } = record.definition;
  const rules = rulesOf(record.definition);
  let messages = 0;
  let attempt = 0;
  let sinceMs = Number.POSITIVE_INFINITY;
  for (const { id, idx, state } of sql.exec<TouchedSegmentRow>(SELECT_TOUCHED_SEGMENTS)) {
    const queue = createQueue(rules, 1);
    restoreSegment(queue, id, new Uint8Array(idx), new Uint8Array(state), 0);
    for (const entry of queue.segments.get(id)?.entries ?? []) {
      if (entry.state !== "leased" || entry.leaseKind !== "push") continue;
      messages += entry.count;
      attempt = Math.max(attempt, entry.attempts);
      sinceMs = Math.min(sinceMs, entry.atMs - rules.pushLeaseMs);
    }
  }
  if (messages === 0) return null;
  return { queue: record.name, worker: workerOf(consumer), messages, attempt, sinceMs };
}
