import { HANDLER_WALL_CLOCK_MS_MAX, type LentPart, type Part, type PartRequest } from "@sluice/protocol";
import type { QueueLimits } from "./limits.ts";
import { PART_MS, Pool } from "./pool.ts";

/** How long a message counts for the messages of a second, in ms. */
export const SECOND_MS = 1_000;
/** How long a delivery can run, and be settled after that, in ms. */
const DELIVERY_MS_MAX = HANDLER_WALL_CLOCK_MS_MAX + 60_000;
/** Time from one round of questions to the next, to shards that are new or have not answered, in ms. */
export const LEARN_AGAIN_MS = 5_000;

interface LenderPorts {
  /** Real time, which no test moves, in ms. */
  now(): number;
  limits(): QueueLimits;
  /** The other shards that there are. */
  others(): readonly number[];
  /** Revision at which an earlier queue of this name was deleted, 0 if none was. */
  emptyAsOf(): number;
  /** Asks a shard for its part, and names the lender to it. */
  partOf(shard: number, lender: number): Promise<PartRequest>;
}

/** Shard 0's side of the limits that a queue has as a whole: lends each shard its part of them. */
export class Lender {
  readonly #ports: LenderPorts;
  readonly #deliveries = new Pool(DELIVERY_MS_MAX);
  readonly #messages = new Pool(SECOND_MS);
  readonly #knows = new Set<number>();
  readonly #beganMs: number;
  /** Resolves when the shards that existed at the first request have been asked. */
  #learned: Promise<void> | undefined;
  #learnAgainMs = Number.NEGATIVE_INFINITY;

  constructor(ports: LenderPorts) {
    this.#ports = ports;
    this.#beganMs = ports.now();
  }

  /** Lends a shard its part; nothing to one that is gone, or of a deleted queue. */
  async lend(request: PartRequest): Promise<Part> {
    const isAnswered = this.#isAnswered(request);
    if (this.#isOwn(request)) {
      const asking = isAnswered ? request.shard : null;
      // Parts of an epoch before this one are known to their shards alone.
      this.#learned ??= this.#learn(asking);
      await this.#learned;
      // A shard that is new, or did not answer, may have nothing to do and never ask. This call does not wait for its
      // answer: it may be out of reach, and the others have parts to renew.
      void this.#learn(asking);
      // Its pools learn its part below, without another wait.
      if (isAnswered) this.#knows.add(request.shard);
    }
    const { deliveries, messages } = this.#ports.limits();
    return {
      lender: this.#beganMs,
      deliveries: this.#lendOf(this.#deliveries, request, "deliveries", deliveries, DELIVERY_MS_MAX),
      messages: this.#lendOf(this.#messages, request, "messages", messages, SECOND_MS),
    };
  }

  #lendOf(
    pool: Pool,
    request: PartRequest,
    kind: "deliveries" | "messages",
    limit: number | null,
    tailMs: number,
  ): LentPart | null {
    if (limit === null) return null;
    // A request that names an earlier lender says nothing of the shard's part now. The shard will ask again.
    if (!this.#isOwn(request) || !this.#isAnswered(request)) return NOTHING;
    const nowMs = this.#ports.now();
    const isOver = nowMs >= this.#beganMs + PART_MS + tailMs;
    // It is unknown what shard 0 itself delivered in the epoch before.
    const isSecondOver = kind === "deliveries" || nowMs >= this.#beganMs + SECOND_MS;
    const others = this.#ports.others();
    // A shard is removed only when it delivers nothing.
    if (kind === "deliveries") pool.keepOnly((shard) => shard === 0 || others.includes(shard));
    const areKnown = others.every((shard) => this.#knows.has(shard));
    const isComplete = isSecondOver && (isOver || areKnown);
    const { shard, number } = request;
    // `null` for a late request, whose answer the shard ignores.
    return pool.lend({ shard, number, ...request[kind] }, limit, isComplete, nowMs) ?? NOTHING;
  }

  /** Whether a shard is one of the queue's. One that was out of reach may still be of the queue that was deleted. */
  #isOwn({ shard, epoch }: PartRequest): boolean {
    const isOfDeleted = epoch !== undefined && epoch < this.#ports.emptyAsOf();
    return !isOfDeleted && (shard === 0 || this.#ports.others().includes(shard));
  }

  /**
   * Whether a shard that asks has heard of this lender. Any other question may be one that came late, and was asked
   * before the answer by which the shard has a part.
   */
  #isAnswered({ shard, lender }: PartRequest): boolean {
    return shard === 0 || lender === undefined || lender >= this.#beganMs;
  }

  /**
   * Asks the shards whose parts are not known, unless that was done a moment ago.
   *
   * @param asking shard whose part is in its question; `null` for none.
   */
  async #learn(asking: number | null): Promise<void> {
    const nowMs = this.#ports.now();
    const unknown = this.#ports.others().filter((shard) => shard !== asking && !this.#knows.has(shard));
    const isOver = nowMs >= this.#beganMs + PART_MS + DELIVERY_MS_MAX;
    if (unknown.length === 0 || isOver || nowMs < this.#learnAgainMs) return;
    this.#learnAgainMs = nowMs + LEARN_AGAIN_MS;
    await Promise.all(unknown.map((shard) => this.#learnOf(shard)));
  }

  async #learnOf(shard: number): Promise<void> {
    try {
      const { number, deliveries, messages } = await this.#ports.partOf(shard, this.#beganMs);
      const nowMs = this.#ports.now();
      this.#deliveries.learn({ shard, number, ...deliveries }, nowMs);
      this.#messages.learn({ shard, number, ...messages }, nowMs);
      this.#knows.add(shard);
    } catch {
      // Its part counts until it is known, or until nothing of it can be in use.
    }
  }
}

const NOTHING: LentPart = { units: 0, expiresInMs: 0 };
