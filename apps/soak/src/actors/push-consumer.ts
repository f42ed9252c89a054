import { type Delivery, type DeliveryResult, type HandlerCalls, PackedIndex, settle } from "@sluice/protocol";
import type { Behaviour } from "../history/scenario.ts";
import type { Simulation } from "../history/simulation.ts";
import { DeliveryRecord, type Verdict } from "../ledger/delivery-record.ts";
import type { Message } from "../ledger/message.ts";
import { tagsOf } from "../ledger/tags.ts";
import type { CalledWorker } from "../platform/called.ts";
import type { Epoch } from "../platform/epoch.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { drawResult } from "./handler-result.ts";

/** How long a handler takes that answers after its lease has ended, in ms: its lease is 15 minutes and 10 seconds. */
const LATE_MS = 915_000;

const NO_CALLS: HandlerCalls = {
  ackAll: false,
  retryBatch: { retry: false },
  explicitAcks: [],
  retryMessages: [],
};
const CRASHED = new Error("The handler's isolate was taken away.");
const ABSENT = new Error("Worker not found.");

/** The Worker that a queue pushes to. What it does with a batch is drawn from the seed. */
export class PushConsumer implements CalledWorker {
  /** Until when its Worker does not run, in ms. */
  absentUntilMs = 0;
  /** What handlers that have not answered had called when they hung or crashed, by delivery. */
  readonly #unfinished = new Map<DeliveryRecord, HandlerCalls>();
  readonly #world: Simulation;
  readonly #queue: QueueObject;
  readonly #behaviours: readonly [Behaviour, ...Behaviour[]];
  readonly #network: Network;

  constructor(world: Simulation, queue: QueueObject, behaviours: readonly [Behaviour, ...Behaviour[]]) {
    this.#world = world;
    this.#queue = queue;
    this.#behaviours = behaviours;
    this.#network = new Network(world);
  }

  /** A batch leaves the queue. */
  deliver(
    epoch: Epoch,
    delivery: Delivery,
    done: (result: DeliveryResult) => void,
    failed: (error: unknown) => void,
  ): void {
    const record = recordDeparture(
      this.#world,
      this.#queue,
      epoch,
      departingFrom(delivery.packed, delivery.attempts),
    );
    const { ids } = record;
    const { name } = this.#queue;
    this.#network.send<DeliveryResult>({
      arrives: (reply, refuse) => this.#handle(record, ids, reply, refuse),
      answered: (result) => {
        this.#world.note("batch is answered", name, record.leaseId, result.outcome === "ok" ? 1 : 2);
        if (epoch.isAlive)
          this.#reach(record, epoch, verdictsOf(result, ids, this.#queue.rules.retryDelayMs));
        done(result);
      },
      failed: (error) => {
        this.#world.note("batch is answered", name, record.leaseId, 0);
        failed(error);
      },
    });
  }

  /** The queue asks what the handler of a delivery had called that failed or takes too long. */
  callsOf(
    epoch: Epoch,
    deliveryId: string,
    done: (calls: HandlerCalls | null) => void,
    failed: (error: unknown) => void,
  ): void {
    const { name, ledger } = this.#queue;
    const leaseId = Number(deliveryId.split(" ", 1)[0]);
    const record = ledger.deliveries.get(leaseId);
    if (record === undefined) throw new Error(`delivery "${deliveryId}" never left`);
    this.#world.note("calls are asked for", name, leaseId);
    this.#network.send<HandlerCalls | null>({
      arrives: (reply, refuse) => {
        if (this.#isAbsent) {
          refuse(ABSENT);
          return;
        }
        const calls = this.#unfinished.get(record) ?? null;
        this.#unfinished.delete(record);
        reply(calls);
      },
      answered: (calls) => {
        this.#world.note("calls are told", name, leaseId, calls === null ? 0 : 1);
        if (epoch.isAlive) {
          const result = { ...NO_CALLS, ...calls, outcome: "exception" };
          this.#reach(record, epoch, verdictsOf(result, record.ids, this.#queue.rules.retryDelayMs));
        }
        done(calls);
      },
      failed: (error) => {
        this.#world.note("calls are told", name, leaseId, 2);
        if (epoch.isAlive) {
          epoch.consumerIsAbsent = true;
          this.#reach(record, epoch, () => ({ kind: "release" }));
        }
        failed(error);
      },
    });
  }

  /** The how-manieth time a queue asks whether its absent consumer is back. */
  nextProbe(epoch: Epoch): number {
    epoch.probes += 1;
    return epoch.probes;
  }

  /** A ping leaves the queue. */
  ping(epoch: Epoch, probe: number, done: () => void, failed: (error: unknown) => void): void {
    const { name } = this.#queue;
    this.#world.note("ping leaves the queue", name);
    this.#network.send<1>({
      arrives: (reply, refuse) => {
        if (this.#isAbsent) refuse(ABSENT);
        else reply(1);
      },
      answered: () => {
        this.#world.note("ping is answered", name, 1);
        if (epoch.isAlive) epoch.consumerIsAbsent &&= probe !== epoch.probes;
        done();
      },
      failed: (error) => {
        this.#world.note("ping is answered", name, 0);
        failed(error);
      },
    });
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

  #handle(
    record: DeliveryRecord,
    ids: readonly string[],
    reply: (result: DeliveryResult) => void,
    refuse: (error: unknown) => void,
  ): void {
    const { random, loop, isTroubled } = this.#world;
    if (this.#isAbsent) {
      refuse(ABSENT);
      return;
    }
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
        return;
      case "crash":
        this.#world.faults["handler crashed"] += 1;
        // Or its isolate went with it.
        if (random.chance(0.5)) this.#remember(record, ids);
        loop.after(workMs, () => refuse(CRASHED));
        return;
      case "late":
        this.#world.faults["handler answered late"] += 1;
        this.#remember(record, ids);
        loop.after(LATE_MS, () => reply(drawResult(this.#world, "some", ids)));
        return;
      default:
        loop.after(workMs, () => reply(drawResult(this.#world, behaviour, ids)));
    }
  }
}

/** What leaves its queue: each message's tag, its id, and which attempt its consumer is told that it is. */
interface Leaving {
  readonly tags: readonly number[];
  readonly ids: readonly string[];
  readonly attempts: readonly number[];
  /**
   * What was asked for by whoever receives: the visibility timeout in ms; then the lease is known too, by its
   * receipt.
   */
  readonly visibilityMs?: number;
  readonly leaseId?: number;
  /** Whether the receive was made again by its attempt id. Default false. */
  readonly isRepeated?: boolean;
}

/** A packed batch that leaves. */
export function departingFrom(packed: Uint8Array, attempts: number | readonly number[]): Leaving {
  const tags = tagsOf(packed);
  const told = typeof attempts === "number" ? tags.map(() => attempts) : attempts;
  return { tags, ids: idsOf(packed), attempts: told };
}

/** Enters a batch that leaves its queue, after every checker has looked at it. */
export function recordDeparture(
  world: Simulation,
  queue: QueueObject,
  epoch: Epoch,
  { tags, ids, attempts, visibilityMs, leaseId: knownLeaseId, isRepeated = false }: Leaving,
): DeliveryRecord {
  const { ledger, name } = queue;
  const messages = tags.map((tag) => ledger.messages.get(tag));
  const view = messages[0]?.view;
  const isVisible = visibilityMs === 0;
  // A receive that hides nothing has no lease: it has a number of its own.
  const leaseId =
    knownLeaseId ??
    (isVisible ? -queue.receives.nextVisible() : view?.status === "leased" ? view.leaseId : 0);
  world.note("batch leaves the queue", name, leaseId, tags.length);
  const known = messages.filter((message): message is Message => message !== undefined);
  const sameLease = ledger.deliveries.get(leaseId);
  // Messages that were received together are worked on one by one.
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
  const record = new DeliveryRecord(leaseId, epoch.number, known, ids);
  if (joined && sameLease !== undefined) return sameLease.add(known, ids);
  ledger.deliveries.set(leaseId, record);
  return record;
}

/** What a queue has to do about each message of a batch. */
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
