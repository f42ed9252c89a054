import type { ReceiveReply } from "@sluice/protocol";
import type { QueueRpc, ShardedQueues } from "@sluice/shards";
import type { ShardWorld } from "./shard-world.ts";

type Isolate = ShardedQueues<keyof QueueRpc>;

/** Shortest and longest time between two polls in the calm phase, in ms: two clients must not keep step for long. */
const CALM_POLL_MS = [10_000, 30_000] as const;

/** Clients that take messages from a queue with shards: by receives of SQS, or by pulls. */
export class ShardTaker {
  readonly #world: ShardWorld;
  readonly #isolate: () => Isolate;
  readonly #queue: string;
  readonly #kind: "pull" | "receive";
  #numbers = 0;

  constructor(world: ShardWorld, isolate: () => Isolate, queue: string, kind: "pull" | "receive") {
    this.#world = world;
    this.#isolate = isolate;
    this.#queue = queue;
    this.#kind = kind;
  }

  /** Polls now and until everything has drained: while there is trouble every `everyMs` on average. */
  start(everyMs: number): void {
    const { loop, random, isTroubled, isDrained } = this.#world;
    if (isDrained) return;
    void (this.#kind === "pull" ? this.#pull() : this.#receive()).catch(() => {});
    loop.after(isTroubled ? random.below(2 * everyMs) : random.between(...CALM_POLL_MS), () =>
      this.start(everyMs),
    );
  }

  async #receive(): Promise<void> {
    const { random, isTroubled, isRestored, loop, nowMs, ledger } = this.#world;
    const queue = this.#isolate().of(this.#queue);
    this.#numbers += 1;
    const receiverId = `${this.#queue} receiver ${this.#numbers}`;
    const begun = { event: loop.events, atMs: nowMs };
    const visibilityTimeoutMs = isTroubled ? random.pick([500, 30_000]) : 60_000;
    const request = { max: random.pick([1, 3, 10]), visibilityTimeoutMs };
    let reply: ReceiveReply;
    if (random.chance(0.3)) {
      const done = await queue.work(this.#queue, { receive: [request] });
      const [first] = done.ok ? (done.received ?? []) : [];
      if (first === undefined || first.kind === "unserved") return;
      reply = first;
    } else {
      const waitMs = random.pick([0, 0, 2_000]);
      if (waitMs > 0 && isTroubled && random.chance(0.3))
        loop.after(
          random.below(waitMs),
          () => void queue.cancelReceive(this.#queue, receiverId).catch(() => {}),
        );
      reply = await queue.receive(this.#queue, { ...request, waitMs, receiverId });
      // A receive that was cancelled has not looked at all shards.
      if (reply.kind === "empty" && waitMs > 0) return;
    }
    if (reply.kind === "empty") return ledger.foundEmpty(this.#queue, begun);
    if (reply.kind !== "received") return;
    const { receipts } = reply;
    await loop.sleep(random.pick(isTroubled ? [0, 400, 40_000] : [0, 400]));
    const used = this.#world.isTroubled ? receipts.filter(() => random.chance(0.7)) : receipts;
    if (used.length === 0) return;
    const wasCalm = isRestored;
    const done = await queue.work(this.#queue, { remove: used });
    const bad = done.ok ? done.removed?.find((outcome) => outcome !== "deleted") : `${done.code}`;
    if (wasCalm && bad !== undefined)
      this.#world.violates("tokens of shards", this.#queue, `a receipt is refused: ${bad}`);
  }

  async #pull(): Promise<void> {
    const { random, isTroubled, isRestored, loop } = this.#world;
    const queue = this.#isolate().of(this.#queue);
    const visibilityTimeoutMs = isTroubled ? random.pick([500, 30_000]) : 60_000;
    const reply = await queue.pull(this.#queue, { max: random.pick([1, 3, 10]), visibilityTimeoutMs });
    if (!reply.ok) return;
    const { leaseIds } = reply.batch;
    await loop.sleep(random.pick(isTroubled ? [0, 400, 40_000] : [0, 400]));
    const isKept = () => this.#world.isTroubled && random.chance(0.3);
    const acks = leaseIds.filter(() => !isKept());
    const retries = leaseIds
      .filter((id) => !acks.includes(id))
      .map((leaseId) => ({ leaseId, delaySeconds: 2 }));
    if (leaseIds.length === 0) return;
    const { warnings } = await queue.settleLeases(this.#queue, { acks, retries });
    if (isRestored && warnings.length > 0)
      this.#world.violates("tokens of shards", this.#queue, `a lease id is refused: ${warnings[0]?.[1]}`);
  }
}
