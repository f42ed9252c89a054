import type { Slice } from "@sluice/engine";
import { joinPacked, PackedIndex } from "@sluice/protocol";
import { SEGMENT_BYTES_MAX } from "./incoming.ts";
import type { QueueCore } from "./queue-core.ts";

/** Log lines about single messages of one event; the rest is a number. */
export const MESSAGE_LINES_MAX = 10;

/**
 * Within a turn: moves messages that are out of retries to the dead-letter queue, or deletes them where there is none.
 * The move is an intent in the same commit that takes them out of this queue.
 */
export function buryDead(core: QueueCore, dead: readonly Slice[], reason: string): void {
  if (dead.length === 0) return;
  const target = core.ports.definitionOf(core.name)?.consumer?.settings.deadLetterQueue ?? null;
  const lines: string[] = [];
  const records: Uint8Array[] = [];
  for (const slice of dead) {
    const payload = core.payloadOf(slice.segmentId);
    for (let i = slice.from; i < slice.to; i++) {
      const record = new PackedIndex(payload.records(i, i + 1).slice());
      record.clearDelay(0);
      records.push(record.packed);
      const id = record.id(0);
      lines.push(
        target === null
          ? `Dropped message "${id}" on queue "${core.name}" after ${slice.attempts} failed attempt(s): ${reason}`
          : `Moving message "${id}" on queue "${core.name}" to dead letter queue "${target}" after ${slice.attempts} failed attempt(s): ${reason}`,
      );
    }
  }
  const { log } = core.ports;
  for (const line of firstLines(lines)) {
    if (target === null) log.warn(line);
    else log.info(line);
  }
  if (target === null) return;
  for (const part of inParts(records)) core.outbox.put(target, joinPacked(part));
}

/** The first few lines, and how many more there are. */
export function firstLines(lines: readonly string[]): string[] {
  if (lines.length <= MESSAGE_LINES_MAX) return [...lines];
  return [
    ...lines.slice(0, MESSAGE_LINES_MAX),
    `… and ${lines.length - MESSAGE_LINES_MAX} more messages alike`,
  ];
}

/** Groups of records that fit into one stored value each. */
function inParts(records: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let bytes = Infinity;
  for (const record of records) {
    if (bytes + record.byteLength > SEGMENT_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(record);
    bytes += record.byteLength;
  }
  return parts;
}
