import { type EnqueuedMessage, joinPacked, PackedIndex } from "@sluice/protocol";
import { deduplicationKey } from "./deduplication.ts";
import type { Incoming } from "./incoming.ts";
import type { QueueCore } from "./queue-core.ts";

/** What sequence numbers are counted from, so that each has 20 digits (spec sqs 4.4). */
const FIRST_SEQUENCE_NUMBER = 10n ** 19n;

/** Within a turn: takes messages in, those of a FIFO queue only if their deduplication ids are new. */
export function enqueue(core: QueueCore, { index, delaySeconds }: Incoming): EnqueuedMessage[] {
  const { queue, deduplication } = core;
  const settings = core.ports.definitionOf(core.name)?.fifo;
  const enqueued: EnqueuedMessage[] = [];
  const kept: Uint8Array[] = [];
  for (let i = 0; i < index.count; i++) {
    const { groupId = "", deduplicationId } = queue.isFifo && index.hasExtension(i) ? index.extension(i) : {};
    const key = deduplicationId === undefined ? null : deduplicationKey(settings, groupId, deduplicationId);
    const first = key === null ? null : deduplication.find(key);
    if (first !== null) {
      const sequenceNumber = sequenceNumberOf(first.seq);
      enqueued.push({ messageId: first.messageId, sequenceNumber, duplicate: true });
      continue;
    }
    const [messageId, seq] = [index.id(i), core.intake.nextSeq + kept.length];
    kept.push(index.records(i, i + 1));
    if (key !== null) deduplication.remember(key, { messageId, seq });
    const sequenceNumber = queue.isFifo ? sequenceNumberOf(seq) : null;
    enqueued.push({ messageId, sequenceNumber, duplicate: false });
  }
  if (kept.length === index.count) core.intake.accept([{ index, delaySeconds }]);
  else if (kept.length > 0) core.intake.accept([{ index: new PackedIndex(copyOf(kept)), delaySeconds }]);
  return enqueued;
}

/** 20 digits that grow with the messages of a queue. */
export function sequenceNumberOf(seq: number): string {
  return String(FIRST_SEQUENCE_NUMBER + BigInt(seq));
}

/** Views hold on to the whole batch that they are of. */
function copyOf(records: readonly Uint8Array[]): Uint8Array {
  return joinPacked(records).slice();
}
