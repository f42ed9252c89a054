import {
  type Delivery,
  type DeliveryResult,
  type HandlerCalls,
  NO_CALLS,
  PackedIndex,
  settle,
} from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import { DeliveryRecord, type Verdict } from "../ledger/delivery-record.ts";
import type { Message } from "../ledger/message.ts";
import { tagsOf } from "../ledger/tags.ts";
import type { CalledWorker } from "../platform/called.ts";
import type { Epoch } from "../platform/epoch.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { Behaviour } from "../scenario/scenario.ts";
import { drawResult } from "./handler-result.ts";

/** Time after which a late handler answers, in ms: its lease is 15 minutes and 10 seconds. */
const LATE_MS = 915_000;

const CRASHED = new Error("The handler's isolate was taken away.");
const ABSENT = new Error("Worker not found.");

/** The Worker that a queue pushes to. What it does with a batch is drawn from the seed. */
export class PushConsumer implements CalledWorker {
  /** Time until which the Worker is away, in ms. */
  absentUntilMs = 0;
  /** Calls that handlers had made when they hung or crashed without an answer, by delivery. */
  readonly #unfinished = new Map<DeliveryRecord, HandlerCalls>();
  readonly #world: Simulation;
  readonly #queue: QueueObject;
  readonly #behaviours: readonly [Behaviour, ...Behaviour[]];

  constructor(world: Simulation, queue: QueueObject, behaviours: readonly [Behaviour, ...Behaviour[]]) {
    this.#world = world;
    this.#queue = queue;
    this.#behaviours = behaviours;
  }

  /** Carries a batch from the queue to the handler, and its result back. */
  async deliver(epoch: Epoch, delivery: Delivery): Promise<DeliveryResult> {
    const leaving = departingFrom(delivery.packed, delivery.attempts);
    const record = recordDeparture(this.#world, this.#queue, leaving);
    const { ids, leaseId } = record;
    let result: DeliveryResult | null = null;
    try {
      result = await exchange(this.#world, () => this.#handle(record, ids));
    } finally {
      const outcome = result === null ? 0 : result.outcome === "ok" ? 1 : 2;
      this.#world.note("batch is answered", this.#queue.name, leaseId, outcome);
    }
    if (epoch.isAlive) this.#reach(record, epoch, verdictsOf(result, ids, this.#queue.rules.retryDelayMs));
    return result;
  }

  /**
   * Carries the queue's question after a delivery that failed or takes too long: which calls its handler had made.
   * `null` if they are lost.
   */
  async callsOf(epoch: Epoch, deliveryId: string): Promise<HandlerCalls | null> {
    const { name, ledger } = this.#queue;
    const leaseId = Number(deliveryId.split(" ", 1)[0]);
    const record = ledger.deliveries.get(leaseId);
    if (record === undefined) throw new Error(`delivery "${deliveryId}" never left`);
    this.#world.note("calls are asked for", name, leaseId);
    try {
      const calls = await exchange(this.#world, async () => {
        if (this.#isAbsent) throw ABSENT;
        const unfinished = this.#unfinished.get(record) ?? null;
        this.#unfinished.delete(record);
        return unfinished;
      });
      this.#world.note("calls are told", name, leaseId, calls === null ? 0 : 1);
      if (epoch.isAlive) {
        const result = { ...NO_CALLS, ...calls, outcome: "exception" };
        this.#reach(record, epoch, verdictsOf(result, record.ids, this.#queue.rules.retryDelayMs));
      }
      return calls;
    } catch (error) {
      this.#world.note("calls are told", name, leaseId, 2);
      if (epoch.isAlive) {
        epoch.consumerIsAbsent = true;
        this.#reach(record, epoch, () => ({ kind: "release" }));
      }
      throw error;
    }
  }

  /** Counts a ping to an absent consumer, and returns its number within the epoch. */
  nextProbe(epoch: Epoch): number {
    epoch.probes += 1;
    return epoch.probes;
  }

  /** Carries a ping to the Worker. Throws if the Worker is away or the ping is lost. */
  async ping(epoch: Epoch, probe: number): Promise<void> {
    const { name } = this.#queue;
    this.#world.note("ping leaves the queue", name);
    let isThere = 0;
    try {
      await exchange(this.#world, async () => {
        if (this.#isAbsent) throw ABSENT;
      });
      isThere = 1;
    } finally {
      this.#world.note("ping is answered", name, isThere);
    }
    if (epoch.isAlive) epoch.consumerIsAbsent &&= probe !== epoch.probes;
  }

  get #isAbsent(): boolean {
    return this.absentUntilMs > this.#world.nowMs;
  }

  #remember(record: DeliveryRecord, ids: readonly string[]): void {
    const { outcome: _, ...calls } = drawResult(this.#world, "some", ids);
    this.#unfinished.set(record, calls);
  }

  #reach(record: DeliveryRecord, epoch: Epoch, verdictOf: (position: number) => Verdict): void {
    const version = this.#queue.disk.committedVersion;
    for (const [i, message] of record.messages.entries()) {
      record.reach(message, verdictOf(i), epoch.number, version);
    }
  }

  async #handle(record: DeliveryRecord, ids: readonly string[]): Promise<DeliveryResult> {
    const { random, loop, isTroubled } = this.#world;
    if (this.#isAbsent) throw ABSENT;
    const behaviour = isTroubled ? random.pick([...this.#behaviours]) : "ok";
    this.#world.note(
      "batch arrives at its consumer",
      this.#queue.name,
      record.leaseId,
      behaviour.charCodeAt(0),
    );
    const workMs = random.pick([0, 0, 3, 200, 4_000]);
    switch (behaviour) {
      case "hang":
        this.#world.faults["handler hung"] += 1;
        this.#remember(record, ids);
        return new Promise(() => {});
      case "crash":
        this.#world.faults["handler crashed"] += 1;
        // Half of the time the isolate is lost, and the calls with it.
        if (random.chance(0.5)) this.#remember(record, ids);
        await loop.sleep(workMs);
        throw CRASHED;
      case "late":
        this.#world.faults["handler answered late"] += 1;
        this.#remember(record, ids);
        await loop.sleep(LATE_MS);
        return drawResult(this.#world, "some", ids);
      default:
        await loop.sleep(workMs);
        return drawResult(this.#world, behaviour, ids);
    }
  }
}

/** Messages that leave their queue: the tag and the id of each, and the attempt number that its consumer is told. */
interface Leaving {
  readonly tags: readonly number[];
  readonly ids: readonly string[];
  readonly attempts: readonly number[];
  /** Visibility timeout that the receiving client asked for, in ms; the lease is then known too, by its receipt. */
  readonly visibilityMs?: number;
  readonly leaseId?: number;
  /** Whether the receive was made again by its attempt id. Default false. */
  readonly isRepeated?: boolean;
}

/** Reads the messages of a packed batch that leaves. */
export function departingFrom(packed: Uint8Array, attempts: number | readonly number[]): Leaving {
  const tags = tagsOf(packed);
  const told = typeof attempts === "number" ? tags.map(() => attempts) : attempts;
  return { tags, ids: idsOf(packed), attempts: told };
}

/** Records a batch that leaves its queue, after the checkers have seen it. */
export function recordDeparture(
  world: Simulation,
  queue: QueueObject,
  { tags, ids, attempts, visibilityMs, leaseId: knownLeaseId, isRepeated = false }: Leaving,
): DeliveryRecord {
  const { ledger, name } = queue;
  const messages = tags.map((tag) => ledger.messages.get(tag));
  const view = messages[0]?.view;
  const isVisible = visibilityMs === 0;
  // A receive that hides nothing has no lease: it gets a negative number of its own.
  const leaseId =
    knownLeaseId ??
    (isVisible ? -queue.receives.nextVisible() : view?.status === "leased" ? view.leaseId : 0);
  world.note("batch leaves the queue", name, leaseId, tags.length);
  const known = messages.filter((message): message is Message => message !== undefined);
  const sameLease = ledger.deliveries.get(leaseId);
  // A worker daemon posts messages of one receive one by one.
  const isOneOfMany = view?.status === "leased" && view.kind === "receive" && knownLeaseId === undefined;
  const joined = isOneOfMany && !known.some((message) => sameLease?.messages.includes(message));
  const earlier = joined || isRepeated ? undefined : sameLease;
  const leaving = {
    leaseId,
    tags,
    messages,
    attempts,
    earlier,
    isVisible,
    visibilityMs: visibilityMs ?? null,
  };
  world.check("departs", queue, leaving);
  if (isRepeated && sameLease !== undefined) return sameLease;
  const record = new DeliveryRecord(leaseId, queue.epoch?.number ?? 0, known, ids);
  if (joined && sameLease !== undefined) return sameLease.add(known, ids);
  ledger.deliveries.set(leaseId, record);
  return record;
}

/** Makes a function from a message's position in its batch to the verdict that the queue has to carry out on it. */
function verdictsOf(
  result: DeliveryResult,
  ids: readonly string[],
  retryDelayMs: number,
): (position: number) => Verdict {
  const verdicts = settle(result, ids, retryDelayMs / 1_000);
  return (position) => {
    const verdict = verdicts[position];
    return verdict?.kind === "retry"
      ? { kind: "retry", delayMs: 1_000 * verdict.delaySeconds }
      : { kind: "ack" };
  };
}

function idsOf(packed: Uint8Array): string[] {
  const index = new PackedIndex(packed);
  return Array.from({ length: index.count }, (_, i) => index.id(i));
}
