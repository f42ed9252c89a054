import { type Delivery, type DeliveryResult, PackedIndex, settle } from "@sluice/protocol";
import type { Behaviour } from "../history/scenario.ts";
import type { World } from "../history/world.ts";
import { DeliveryRecord, type Verdict } from "../ledger/delivery-record.ts";
import type { Message } from "../ledger/message.ts";
import { tagsOf } from "../ledger/tags.ts";
import type { Life } from "../platform/life.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { drawResult } from "./handler-result.ts";

/** How long a handler takes that answers after its lease has ended, in ms: the lease is 15 minutes. */
const LATE_MS = 905_000;

/** Why a queue pings: a delivery has failed, or an absent consumer may be back (the how-manieth time it asks that). */
interface Question {
  readonly about: DeliveryRecord | null;
  readonly probe: number;
}

const CRASHED = new Error("The handler's isolate was taken away.");
const ABSENT = new Error("Worker not found.");

/** The Worker that a queue pushes to. What it does with a batch is drawn from the seed. */
export class PushConsumer {
  /** Until when its Worker does not run, in ms. */
  absentUntilMs = 0;
  /** The delivery whose call has failed in the running event: a ping that leaves the queue now is about it. */
  refused: DeliveryRecord | null = null;
  readonly #world: World;
  readonly #queue: QueueObject;
  readonly #behaviours: readonly [Behaviour, ...Behaviour[]];
  readonly #network: Network;

  constructor(world: World, queue: QueueObject, behaviours: readonly [Behaviour, ...Behaviour[]]) {
    this.#world = world;
    this.#queue = queue;
    this.#behaviours = behaviours;
    this.#network = new Network(world);
  }

  /** A batch leaves the queue. */
  deliver(
    life: Life,
    delivery: Delivery,
    done: (result: DeliveryResult) => void,
    failed: (error: unknown) => void,
  ): void {
    const record = recordDeparture(this.#queue, life, delivery.packed, delivery.attempts);
    const ids = idsOf(delivery.packed);
    const { retryDelayMs } = this.#queue.rules;
    const { name } = this.#queue;
    this.#network.send<DeliveryResult>({
      arrives: (reply, refuse) => this.#handle(record, ids, reply, refuse),
      answered: (result) => {
        this.#world.note("batch is answered", name, record.leaseId, result.outcome === "ok" ? 1 : 2);
        const verdicts = settle(result, ids, retryDelayMs / 1_000);
        if (life.isAlive) {
          this.#reach(record, life, (i) => {
            const verdict = verdicts[i];
            return verdict?.kind === "retry"
              ? { kind: "retry", delayMs: 1_000 * verdict.delaySeconds }
              : { kind: "ack" };
          });
        }
        done(result);
      },
      failed: (error) => {
        this.#world.note("batch is answered", name, record.leaseId, 0);
        if (life.isAlive) this.refused = record;
        failed(error);
      },
    });
  }

  /** What a ping is about that a queue sends now. */
  question(life: Life): Question {
    if (this.refused === null) life.probes += 1;
    return { about: this.refused, probe: life.probes };
  }

  /** A ping leaves the queue. */
  ping(life: Life, { about, probe }: Question, done: () => void, failed: (error: unknown) => void): void {
    const { name, rules } = this.#queue;
    const leaseId = about?.leaseId ?? 0;
    this.#world.note("ping leaves the queue", name, leaseId);
    this.#network.send<1>({
      arrives: (reply, refuse) => {
        if (this.#isAbsent) refuse(ABSENT);
        else reply(1);
      },
      answered: () => {
        this.#world.note("ping is answered", name, leaseId, 1);
        if (life.isAlive) {
          if (about === null) life.consumerIsAbsent &&= probe !== life.probes;
          else this.#reach(about, life, () => ({ kind: "retry", delayMs: rules.retryDelayMs }));
        }
        done();
      },
      failed: (error) => {
        this.#world.note("ping is answered", name, leaseId, 0);
        if (life.isAlive && about !== null) {
          life.consumerIsAbsent = true;
          this.#reach(about, life, () => ({ kind: "release" }));
        }
        failed(error);
      },
    });
  }

  get #isAbsent(): boolean {
    return this.absentUntilMs > this.#world.nowMs;
  }

  #reach(record: DeliveryRecord, life: Life, verdictOf: (position: number) => Verdict): void {
    const version = this.#queue.disk.committedVersion;
    for (const [i, message] of record.messages.entries()) {
      record.reach(message, verdictOf(i), life.number, version);
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
        return;
      case "crash":
        this.#world.faults["handler crashed"] += 1;
        loop.after(workMs, () => refuse(CRASHED));
        return;
      case "late":
        this.#world.faults["handler answered late"] += 1;
        loop.after(LATE_MS, () => reply(drawResult(this.#world, "some", ids)));
        return;
      default:
        loop.after(workMs, () => reply(drawResult(this.#world, behaviour, ids)));
    }
  }
}

/** Enters a batch that leaves its queue, after every checker has looked at it. */
export function recordDeparture(
  queue: QueueObject,
  life: Life,
  packed: Uint8Array,
  attempts: number | readonly number[],
): DeliveryRecord {
  const { world, ledger, name } = queue;
  const tags = tagsOf(packed);
  const messages = tags.map((tag) => ledger.messages.get(tag));
  const view = messages[0]?.view;
  const leaseId = view?.status === "leased" ? view.leaseId : 0;
  world.note("batch leaves the queue", name, leaseId, tags.length);
  const earlier = ledger.deliveries.get(leaseId);
  const told = typeof attempts === "number" ? tags.map(() => attempts) : attempts;
  world.check("departs", queue, { leaseId, tags, messages, attempts: told, earlier });
  const known = messages.filter((message): message is Message => message !== undefined);
  const record = new DeliveryRecord(leaseId, life.number, known);
  ledger.deliveries.set(leaseId, record);
  return record;
}

function idsOf(packed: Uint8Array): string[] {
  const index = new PackedIndex(packed);
  return Array.from({ length: index.count }, (_, i) => index.id(i));
}
