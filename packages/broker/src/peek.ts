import { BATCH_BYTES_MAX, peek as peekAt, removeMessage, type Slice } from "@sluice/engine";
import { type PeekedBatch, PULL_MESSAGES_MAX, type RefsDeleted } from "@sluice/protocol";
import { joinOwned } from "./lease-records.ts";
import { decodeToken, encodeToken } from "./message-token.ts";
import { passTime } from "./pass-time.ts";
import { checkRange, positionsIn } from "./pull.ts";
import type { QueueCore } from "./queue-core.ts";
import { readableRanges } from "./readable.ts";

/**
 * Within a turn: the first messages that wait, as they stand (spec cloudflare-queues 5.2). What cannot be read is left out;
 * its loss is noted when it is delivered.
 *
 * @throws RangeError for what the edge should have refused.
 */
export function peek(core: QueueCore, max: number): PeekedBatch {
  checkRange("max", max, 1, PULL_MESSAGES_MAX);
  passTime(core);
  const parts: Uint8Array[] = [];
  const slices: Slice[] = [];
  for (const slice of peekAt(core.queue, max, BATCH_BYTES_MAX)) {
    for (const readable of readableSlices(core, slice)) {
      parts.push(core.payloadOf(slice.segmentId).records(readable.from, readable.to));
      slices.push(readable);
    }
  }
  return {
    packed: joinOwned(parts),
    attempts: slices.flatMap(({ from, to, attempts }) => Array<number>(to - from).fill(attempts)),
    refs: slices.flatMap((slice) => positionsIn(slice, 0)).map((at) => encodeToken(core.name, "ref", at)),
  };
}

/** Within a turn: deletes messages by refs of `peek` (spec cloudflare-queues 5.2), those that are leased by now too. */
export function deleteByRefs({ queue, name }: QueueCore, refs: readonly string[]): RefsDeleted {
  const warnings: [ref: string, text: string][] = [];
  let deleted = 0;
  for (const ref of refs) {
    const position = decodeToken(name, "ref", ref);
    if (position === null) warnings.push([ref, "This is not a ref of this queue."]);
    else if (removeMessage(queue, position)) deleted += 1;
    else warnings.push([ref, "The message is not in the queue any more."]);
  }
  return { deleted, warnings };
}

function readableSlices(core: QueueCore, slice: Slice): Slice[] {
  try {
    const ranges = readableRanges(core.payloadOf(slice.segmentId), slice.from, slice.to);
    return ranges.map((range) => ({ ...slice, ...range }));
  } catch {
    return [];
  }
}
