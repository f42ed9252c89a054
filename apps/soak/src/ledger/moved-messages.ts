import { PackedIndex } from "@sluice/protocol";

/** A message that a move task takes from one queue to another. There it is a new message, so it gets a new tag. */
export interface MovedMessage {
  /** Tag in the queue that it goes to. */
  readonly tag: number;
  /** Tag in the queue that it comes from. */
  readonly tagBefore: number;
  readonly target: string;
}

/** Every message that a move task has ever taken out of its queue, by its new tag. */
export class MovedMessages {
  readonly #moved = new Map<number, MovedMessage>();
  readonly #takeTag: () => number;

  constructor(takeTag: () => number) {
    this.#takeTag = takeTag;
  }

  get(tag: number): MovedMessage | undefined {
    return this.#moved.get(tag);
  }

  /** Records that a move task has taken a message out of its queue. Returns its new tag. */
  depart(tagBefore: number, target: string): number {
    const tag = this.#takeTag();
    this.#moved.set(tag, { tag, tagBefore, target });
    return tag;
  }
}

/**
 * Whether messages that leave a queue together have died in it. A dead letter names that queue as its source, a moved
 * message does not.
 */
export function areDeadLetters(packed: Uint8Array, queue: string): boolean {
  const index = new PackedIndex(packed);
  if (index.count === 0 || !index.hasExtension(0)) return false;
  const { deadLetterSource, deadLetterOf } = index.extension(0);
  return deadLetterSource === queue || deadLetterOf === queue;
}
