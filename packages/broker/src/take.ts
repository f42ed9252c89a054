import { PackedFormatError, PackedIndex } from "@sluice/protocol";
import type { HandOver, HandOverReply } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";
import { isStorable } from "./readable.ts";

/**
 * Within a turn: takes what a call hands over, in its order and each item once. One that was taken before is confirmed and
 * dropped. The first that cannot be read ends it, with the reason: what comes after it keeps its place behind it, and nothing
 * of it is noted as taken.
 *
 * @param take stores the messages of an item.
 * @throws PackedFormatError for a caller that takes every answer for a yes (`HandOver.more`).
 */
export function takeItems(
  core: QueueCore,
  { source, id, packed, more }: HandOver,
  take: (index: PackedIndex) => void,
): HandOverReply {
  const takenBefore = core.outbox.takenFrom(source);
  let takenTo = takenBefore;
  let refused: string | null = null;
  for (const item of [{ id, packed }, ...(more ?? [])]) {
    if (item.id <= takenTo) continue;
    const index = indexOf(item.packed);
    if (index instanceof PackedFormatError) {
      if (more === undefined) throw index;
      refused = index.message;
      break;
    }
    take(index);
    takenTo = item.id;
  }
  if (takenTo > takenBefore) {
    core.outbox.noteTaken(source, takenTo);
    core.write(() => core.ports.store.writeInbox(source, takenTo));
  }
  return { takenTo, refused };
}

/** The records of an item, or why they are none that could be stored and read again. */
function indexOf(packed: Uint8Array): PackedIndex | PackedFormatError {
  try {
    const index = new PackedIndex(packed);
    for (let i = 0; i < index.count; i++) {
      if (!isStorable(index, i)) return new PackedFormatError(`record ${i} cannot be read`);
    }
    return index;
  } catch (error) {
    if (error instanceof PackedFormatError) return error;
    throw error;
  }
}
