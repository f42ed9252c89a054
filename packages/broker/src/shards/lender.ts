import { HANDLER_WALL_CLOCK_MS_MAX, type LentPart, type Part, type PartRequest } from "@sluice/protocol";
import type { LimitKind } from "./borrower.ts";
import type { QueueLimits } from "./limits.ts";
import { type Lendable, PART_MS, Pool } from "./pool.ts";

/** How long a message counts for the messages of a second, in ms. */
export const SECOND_MS = 1_000;
/** How long units are in use after their part has expired, in ms: a delivery can run, and be settled after that. */
const TAIL_MS = { deliveries: HANDLER_WALL_CLOCK_MS_MAX + 60_000, messages: SECOND_MS } as const;
const KINDS = ["deliveries", "messages"] as const satisfies readonly LimitKind[];

interface LenderPorts {
  /** Epoch of the queue's core. */
  epoch(): number;
  /** Time that nobody moves, in ms. */
  now(): number;
  limits(): QueueLimits;
  /** The other shards that there are. */
  others(): readonly number[];
  /** Revision at which an earlier queue of this name was deleted, 0 if none was. */
  emptyAsOf(): number;
  /** Asks a shard, shard 0 too, for its part, and has it ask for one if it wants any. */
  partOf(shard: number): Promise<PartRequest>;
}

/** Shard 0's side of the limits that a queue has as a whole: lends each shard its part of them. */
export class Lender {
  readonly #ports: LenderPorts;
  readonly #pools: Readonly<Record<LimitKind, Pool>> = {
    deliveries: new Pool(TAIL_MS.deliveries),
    messages: new Pool(TAIL_MS.messages),
  };
  readonly #knows = new Set<number>();
  /** Shards that are called to ask, and whether there was reason to call them again meanwhile. */
  readonly #asked = new Map<number, boolean>();
  readonly #beganMs: number;
  #learning: Promise<unknown> | undefined;

  constructor(ports: LenderPorts) {
    this.#ports = ports;
    this.#beganMs = ports.now();
  }

  /** Lends a shard its part; nothing to one that is gone, or of a deleted queue. */
  async lend(request: PartRequest): Promise<Part> {
    if (this.#isOwn(request)) {
      // Parts of an epoch before this one are known to their shards alone. They are asked once; who does not answer is
      // waited for.
      this.#learning ??= this.#learn(request.shard);
      await this.#learning;
      this.#knows.add(request.shard);
    }
    const [deliveries, messages] = KINDS.map((kind) => this.#lendOf(kind, request)) as [
      LentPart | null,
      LentPart | null,
    ];
    this.look();
    return { lender: this.#ports.epoch(), deliveries, messages };
  }

  /** Has shards ask that would get more than they have. To be called when limits or shards have changed. */
  look(): void {
    const served = KINDS.flatMap((kind) => {
      const lendable = this.#lendable(kind);
      return lendable === null ? [] : this.#pools[kind].served(lendable, this.#ports.now());
    });
    for (const shard of new Set(served)) void this.#have(shard);
  }

  /** Has a shard ask for its part, one call at a time. */
  async #have(shard: number): Promise<void> {
    const isUnderWay = this.#asked.has(shard);
    this.#asked.set(shard, isUnderWay);
    if (isUnderWay) return;
    let unwanted: readonly LimitKind[] = KINDS;
    try {
      const request = await this.#ports.partOf(shard);
      unwanted = KINDS.filter((kind) => request[kind].wanted === 0);
    } catch {
      // It asks again by itself. Until then it keeps nothing from others.
    }
    const isOver = unwanted.filter((kind) => this.#pools[kind].wantsNone(shard)).length > 0;
    const isMissed = this.#asked.get(shard) === true;
    this.#asked.delete(shard);
    if (isMissed || isOver) this.look();
  }

  #lendOf(kind: LimitKind, request: PartRequest): LentPart | null {
    const lendable = this.#lendable(kind);
    if (lendable === null) return null;
    if (!this.#isOwn(request)) return NOTHING;
    const { shard, number } = request;
    // The answer to a late question reaches nobody.
    return (
      this.#pools[kind].lend({ shard, number, ...request[kind] }, lendable, this.#ports.now()) ?? NOTHING
    );
  }

  /** Finds what can be lent; `null` where the queue has no such limit. */
  #lendable(kind: LimitKind): Lendable | null {
    const limit = this.#ports.limits()[kind];
    if (limit === null) return null;
    const others = this.#ports.others();
    // A shard goes when it delivers nothing.
    if (kind === "deliveries") this.#pools[kind].keepOnly((shard) => shard === 0 || others.includes(shard));
    const areKnown = others.every((shard) => this.#knows.has(shard));
    const knownAtMs = areKnown ? this.#beganMs : this.#beganMs + PART_MS + TAIL_MS[kind];
    // What shard 0 itself delivered in the epoch before nobody knows.
    const completeAtMs = kind === "deliveries" ? knownAtMs : Math.max(knownAtMs, this.#beganMs + SECOND_MS);
    return { limit, completeAtMs };
  }

  /** Whether a shard is one of the queue's. One that was out of reach may still be of the queue that was deleted. */
  #isOwn({ shard, epoch }: PartRequest): boolean {
    const isOfDeleted = epoch !== undefined && epoch < this.#ports.emptyAsOf();
    return !isOfDeleted && (shard === 0 || this.#ports.others().includes(shard));
  }

  async #learn(asking: number): Promise<void> {
    const shards = this.#ports.others().filter((shard) => shard !== asking);
    await Promise.all(
      shards.map(async (shard) => {
        try {
          const { number, deliveries, messages } = await this.#ports.partOf(shard);
          const nowMs = this.#ports.now();
          this.#pools.deliveries.learn({ shard, number, ...deliveries }, nowMs);
          this.#pools.messages.learn({ shard, number, ...messages }, nowMs);
          this.#knows.add(shard);
        } catch {
          // Its part counts until it asks, or until nothing of it can be in use.
        }
      }),
    );
  }
}

const NOTHING: LentPart = { units: 0, expiresInMs: 0 };
