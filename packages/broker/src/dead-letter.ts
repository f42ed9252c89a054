import type { Slice } from "@sluice/engine";
import { changeRecord, isReadable, joinPacked, type PackedIndex } from "@sluice/protocol";
import { deadNotification, isForNotifications } from "./endpoint/dead-notification.ts";
import { SEGMENT_BYTES_MAX } from "./incoming.ts";
import type { QueueCore } from "./queue-core.ts";
import { deadLetterQueueOf } from "./rules.ts";

/** Log lines about single messages of one event; the rest is a number. */
export const MESSAGE_LINES_MAX = 10;

/**
 * Bytes of messages after which no further one dies in a turn: all that die are held in memory at a time, and after a long
 * failure of whoever works on them it can be the whole queue.
 */
export const BURIED_BYTES_MAX = 8_000_000;

/**
 * Within a turn: moves messages that are out of retries to the dead-letter queue, or deletes them where there is none.
 * The move is an intent in the same commit that takes them out of this queue.
 */
export function buryDead(core: QueueCore, dead: readonly Slice[], reason: string): void {
  if (dead.length === 0) return;
  const target = deadLetterQueueOf(core.ports.definitionOf(core.name));
  const { log } = core.ports;
  const dropped: string[] = [];
  const moved: string[] = [];
  const records: Uint8Array[] = [];
  for (const slice of dead) {
    for (const { id, packed } of readRecords(core, slice)) {
      const isMoved = target !== null && packed !== null;
      const what = isMoved
        ? `Moving message "${id}" on queue "${core.name}" to dead letter queue "${target}"`
        : `Dropped message "${id}" on queue "${core.name}"`;
      (isMoved ? moved : dropped).push(`${what} after ${slice.attempts} failed attempt(s): ${reason}`);
      if (isMoved) records.push(packed);
    }
  }
  for (const line of firstLines(dropped)) log.warn(line);
  for (const line of firstLines(moved)) log.info(line);
  if (target === null) return;
  for (const part of inParts(records)) core.outbox.put(target, joinPacked(part));
}

/** A dead message as its dead-letter queue gets it; `null` for one that no such queue gets. */
interface DeadLetter {
  readonly id: string;
  readonly packed: Uint8Array | null;
}

/** Copies of the records of dead messages, each without its own delay: that was served here. */
function readRecords(core: QueueCore, slice: Slice): DeadLetter[] {
  const { segmentId, from, to, attempts } = slice;
  try {
    const payload = core.payloadOf(segmentId);
    const positions = Array.from({ length: to - from }, (_, i) => from + i);
    const readable = positions.filter((i) => isReadable(payload, i));
    if (readable.length < positions.length) {
      core.damage.messagesLost(
        slice,
        positions.length - readable.length,
        "their bytes are not what was stored",
      );
    }
    return readable.map((i) => ({ id: payload.id(i), packed: deadRecord(core, payload, i, attempts) }));
  } catch (error) {
    core.damage.messagesLost(slice, to - from, error);
    return [];
  }
}

/**
 * A message as it goes to the dead-letter queue. It says where it comes from; under a redrive policy in SQS's own way, with
 * how often it was received. On a FIFO queue its id takes the place of its deduplication id, so no two dead letters are duplicates, and it
 * counts as sent when it arrives (spec sqs 4.3, 5.5, 6.1, 6.2).
 */
function deadRecord(core: QueueCore, payload: PackedIndex, i: number, attempts: number): Uint8Array | null {
  const definition = core.ports.definitionOf(core.name);
  if (isForNotifications(definition)) return deadNotification(payload, i, () => core.newMessageId());
  const { deadLetterSource, deadLetterOf, ...known } = payload.hasExtension(i) ? payload.extension(i) : {};
  if (!definition?.receive?.redrive && !core.ports.daemonOf?.(core.name)) {
    return changeRecord(payload, i, { extension: { ...known, deadLetterOf: core.name } });
  }
  const extension = { ...known, deadLetterSource: core.name };
  return changeRecord(payload, i, {
    earlierReceives: payload.earlierReceives(i) + attempts,
    ...(core.queue.isFifo
      ? { timestampMs: 0, extension: { ...extension, deduplicationId: payload.id(i) } }
      : { extension }),
  });
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
export function inParts(records: readonly Uint8Array[]): Uint8Array[][] {
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
