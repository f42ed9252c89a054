import { LINGER_MS, SharedCall } from "@sluice/coalesce";
import { type PostReply, QueueObjects, type SendRequest } from "@sluice/protocol";
import { PRODUCER_RULES, type QueueRpc, ShardedQueues } from "@sluice/shards";
import { NETWORK_MS } from "./costs.ts";
import { QUEUE, type SimulatedQueue } from "./simulated-queue.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Bytes of a message. */
const MESSAGE_BYTES = 240;
/** Bytes of a call that takes no more messages, as in `packages/producer`. */
const CALL_BYTES_FULL = 1_000_000;

const MESSAGE: SendRequest = { packed: new Uint8Array(MESSAGE_BYTES) };

export interface IsolateConditions {
  /** Random number, 0 to below 1. */
  readonly random: () => number;
  /** Shortest time of one way, in ms; the longest is twice as long. Default `NETWORK_MS`. */
  readonly networkMs?: number;
}

/**
 * An isolate of a Worker that sends. It runs the producer's own code that shares calls, picks shards and moves on from
 * overloaded ones.
 */
export class SimulatedIsolate {
  readonly #shared: SharedCall<SendRequest, PostReply>;

  constructor(
    time: VirtualTime,
    queue: SimulatedQueue,
    { random, networkMs = NETWORK_MS }: IsolateConditions,
  ) {
    const travel = () => time.sleep(networkMs * (1 + random()));
    const stubOf = (name: string) => ({
      post: async (address: string, requests: readonly SendRequest[]) => {
        await travel();
        try {
          return await queue.object(name).post(address, requests);
        } finally {
          await travel();
        }
      },
    });
    const objects = new QueueObjects<Pick<QueueRpc, "post" | "metrics">>({
      namespace: () => ({ getByName: (name) => stubOf(name) as unknown as QueueRpc }),
      placeOf: async () => null,
    });
    const sender = new ShardedQueues(objects, PRODUCER_RULES, {
      random,
      now: () => Math.floor(time.now()),
    }).of(QUEUE);
    this.#shared = new SharedCall({
      call: async (messages) => {
        const reply = await sender.post(QUEUE, messages);
        return messages.map(() => reply);
      },
      weightOf: () => MESSAGE_BYTES,
      weightMax: CALL_BYTES_FULL,
      lingerMs: LINGER_MS,
      // As `Date.now`: whole milliseconds.
      now: () => Math.floor(time.now()),
      setTimer: (ms, callback) => time.after(ms, callback),
    });
  }

  /** Sends a message. Resolves to whether it is stored; `false` if its call was refused, or its outcome is unknown. */
  async send(): Promise<boolean> {
    try {
      const reply = await this.#shared.run(MESSAGE, () => {});
      return typeof reply === "string";
    } catch {
      return false;
    }
  }
}
