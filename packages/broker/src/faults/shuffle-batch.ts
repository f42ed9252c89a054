import { type Delivery, joinPacked, PackedIndex, randomFrom } from "@sluice/protocol";

/** Shuffles the messages of a delivery. The order follows from the seed. */
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

/** Shuffles the numbers from 0 to count - 1 by the seed (Fisher and Yates). */
function shuffled(count: number, seed: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  const random = randomFrom(seed);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number]; // both are below count
  }
  return order;
}
