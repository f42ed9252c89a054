import { LINGER_MS, SharedCall } from "@sluice/coalesce";
import { type PostReply, QueueObjects, type SendRequest } from "@sluice/protocol";
import { PRODUCER_RULES, type QueueRpc, ShardedQueues } from "@sluice/shards";
import { NETWORK_MS } from "./costs.ts";
import { QUEUE, type SimulatedQueue } from "./simulated-queue.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Bytes of a message, and of a call that takes no more, as in `packages/producer`. */
const MESSAGE_BYTES = 240;
const CALL_BYTES_FULL = 1_000_000;

const MESSAGE: SendRequest = { packed: new Uint8Array(MESSAGE_BYTES) };

export interface IsolateConditions {
  /** Random number, 0 to below 1. */
  readonly random: () => number;
  /** Least time that one way takes, in ms, and as much again at most. Default `NETWORK_MS`. */
  readonly networkMs?: number;
}

/**
 * An isolate of a Worker that sends. What shares a call, which shard it goes to and when it moves on are the
 * producer's own code.
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

  /** Sends a message. Answers whether it is stored; `false` where its call was refused, or its outcome is unknown. */
  async send(): Promise<boolean> {
    try {
      const reply = await this.#shared.run(MESSAGE, () => {});
      return typeof reply === "string";
    } catch {
      return false;
    }
  }
}
