import { type Delivery, joinPacked, PackedIndex } from "@sluice/protocol";

/** The delivery with its messages in another order, which follows from the seed. */
export function shuffleBatch(delivery: Delivery, seed: number): Delivery {
  const index = new PackedIndex(delivery.packed);
  const order = shuffled(index.count, seed);
  const { attempts } = delivery;
  return {
    ...delivery,
    packed: joinPacked(order.map((i) => delivery.packed.subarray(index.offsets[i], index.offsets[i + 1]))),
    attempts: typeof attempts === "number" ? attempts : order.map((i) => attempts[i] as number), // one for each
  };
}

/** 0 to count - 1 in an order that follows from the seed (Fisher and Yates). */
function shuffled(count: number, seed: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  const random = randomOf(seed);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number]; // both are below count
  }
  return order;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
