import { advance, type Queue, type QueueRules } from "@sluice/engine";
import type { Part, PartRequest, QueueDefinition } from "@sluice/protocol";
import { Borrower, LIMIT_KINDS, type LimitKind, type Need } from "../shards/borrower.ts";
import { SECOND_MS } from "../shards/lender.ts";
import { limitsOf } from "../shards/limits.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import { rulesOf } from "../turn/rules.ts";
import type { Throttle } from "../turn/throttle.ts";

/** How long after a client's request for messages further ones are expected, in ms. */
const CLIENT_MS = 5_000;

/** Longest that a client which does not wait for messages waits for a part, in ms. */
export const CLIENT_WAIT_MS = 1_000;

/** Way of a shard to the others of its queue. */
export interface ShardPorts {
  /** Number of this shard; `null` for a queue that has no others. */
  index(): number | null;
  /** Asks shard 0 for a part of the queue's limits. */
  lend(request: PartRequest): Promise<Part>;
  /** Real time, which no test moves, in ms. */
  now(): number;
}

/** Parts of a queue that decide what part of the limits a shard needs. */
interface PartOfQueue {
  readonly queue: Queue;
  readonly definition: QueueDefinition | undefined;
  readonly nowMs: number;
  readonly throttle: Throttle;
  readonly dispatcher: { readonly open: boolean };
  readonly receivers: { askedMs: number | null; readonly areWaiting: boolean };
  wake(): Promise<void>;
}

/** Part of its queue's limits that an object may use: all of them where it is the only one. */
export class QueuePart {
  readonly #queue: PartOfQueue;
  readonly #ports: ShardPorts;
  readonly #borrower: Borrower;
  readonly #after: (callback: () => void, ms: number) => void;
  /** Clients that wait for a part. */
  readonly #clients = new Set<() => void>();
  /** Until when messages of this second count that shards may have delivered which are gone, in real ms. */
  #othersCountUntilMs = 0;

  constructor(queue: PartOfQueue, ports: ShardPorts, after: (callback: () => void, ms: number) => void) {
    this.#queue = queue;
    this.#ports = ports;
    this.#after = after;
    this.#borrower = new Borrower({
      shard: () => ports.index() ?? 0,
      now: () => ports.now(),
      ask: (request) => ports.lend(request),
      after,
      need: (kind) => this.#need(kind),
      changed: () => {
        for (const goOn of this.#clients) goOn();
        void queue.wake();
      },
    });
  }

  /** Messages per second that the object may deliver; `Infinity` where shards share no such limit. */
  get perSecond(): number {
    return this.#borrower.units("messages");
  }

  /** Whether it may deliver nothing, and waits until another shard gives something up. */
  get isWaiting(): boolean {
    return LIMIT_KINDS.some(
      (kind) => this.#borrower.units(kind) === 0 && (this.#need(kind)?.wanted ?? 0) > 0,
    );
  }

  /** When to look whether a part has come, or whether one is needed; `null` if none is waited for. */
  get lookAtMs(): number | null {
    const { queue, nowMs, dispatcher } = this.#queue;
    if (this.#borrower.isWaiting) return nowMs + HEARTBEAT_MS;
    // Without a part the engine has no slot, and does not wake the queue for what comes due.
    const isWithout = dispatcher.open && this.#borrower.units("deliveries") === 0;
    return isWithout ? (queue.delayed.peek()?.atMs ?? null) : null;
  }

  /** Makes the engine's rules of the queue's definition, with the deliveries that are this object's. */
  rules(): QueueRules {
    const rules = rulesOf(this.#queue.definition);
    const deliveries = this.#borrower.units("deliveries");
    return deliveries === Number.POSITIVE_INFINITY ? rules : { ...rules, maxConcurrency: deliveries };
  }

  /** Whether the engine's rules name other deliveries than are this object's by now. */
  get hasChanged(): boolean {
    if (this.#ports.index() === null) return false;
    return this.rules().maxConcurrency !== this.#queue.queue.rules.maxConcurrency;
  }

  /**
   * Asks for a part on behalf of a client that gets what is there now: a shard whose clients seldom ask has given its
   * part back. Resolves when shard 0 has answered, after `CLIENT_WAIT_MS` at the latest. `null` if nothing is needed.
   */
  forClient(): Promise<void> | null {
    if (this.#ports.index() === null || this.perSecond > 0) return null;
    const { queue, receivers, nowMs } = this.#queue;
    receivers.askedMs = nowMs;
    advance(queue, nowMs);
    if (queue.readyCount === 0) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const goOn = () => {
      this.#clients.delete(goOn);
      resolve();
    };
    this.#clients.add(goOn);
    this.#after(goOn, CLIENT_WAIT_MS);
    this.#borrower.look();
    return promise;
  }

  /** At the end of a turn: asks for a part, or gives it back. */
  look(): void {
    const { queue, nowMs } = this.#queue;
    // The dispatcher does that where it may deliver.
    if (this.#ports.index() !== null) advance(queue, nowMs);
    this.#borrower.look();
  }

  /** Within a turn, before the map may change: shards that go may have delivered messages in this second. */
  mapChanges(): void {
    if (this.#ports.index() !== null) this.#othersCountUntilMs = this.#ports.now() + SECOND_MS;
  }

  /** Asks for nothing any more. */
  end(): void {
    this.#borrower.end();
  }

  /** Answers shard 0, which has forgotten what it has lent. */
  tell(lender: number): PartRequest {
    return this.#borrower.tell(lender);
  }

  #need(kind: LimitKind): Need | null {
    const { queue, definition, throttle } = this.#queue;
    const othersCount = kind === "messages" && this.#ports.now() < this.#othersCountUntilMs;
    const isShared = this.#ports.index() !== null || othersCount;
    const limit = isShared ? limitsOf(definition)[kind] : null;
    if (limit === null) return null;
    if (kind === "messages") {
      const used = Math.min(limit, throttle.inSecond);
      return {
        used,
        wanted: this.#isAsked && queue.readyCount > 0 ? Math.min(limit, used + queue.readyCount) : 0,
      };
    }
    const { push, rules, readyCount } = queue;
    const used = push.inFlight;
    const more = this.#queue.dispatcher.open ? Math.ceil(readyCount / rules.maxBatchSize) : 0;
    const target = rules.scalesConcurrency === false ? limit : push.target;
    return { used, wanted: Math.max(used, Math.min(limit, target, used + more)) };
  }

  /** Whether a consumer or a client takes messages. */
  get #isAsked(): boolean {
    const { dispatcher, receivers, nowMs } = this.#queue;
    const wasAsked = receivers.askedMs !== null && receivers.askedMs > nowMs - CLIENT_MS;
    return dispatcher.open || receivers.areWaiting || wasAsked;
  }
}
