import { Random } from "@sluice/harness/random";
import { MovedMessages } from "../ledger/moved-messages.ts";
import type { Copy } from "../ledger/publications.ts";
import type { Transmission } from "../ledger/transmission.ts";
import { type EventKind, EventLog } from "./event-log.ts";
import {
  drawFaultRates,
  type FaultCounts,
  type FaultKind,
  type FaultRates,
  NO_FAULT_RATES,
  noFaults,
} from "./faults.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { TimeOfDay } from "./time-of-day.ts";
import { microtasksDone, type ScheduledEvent, VirtualLoop } from "./virtual-loop.ts";

/** First violation of a property in a history. */
export interface Violation {
  readonly property: string;
  readonly queue: string;
  readonly text: string;
  readonly event: number;
}

/** Parts that a world is made of. */
export interface WorldParts {
  readonly random: Random;
  readonly loop: VirtualLoop;
  readonly log: EventLog;
  readonly faults: FaultCounts;
  readonly rates: FaultRates;
  readonly bug: PlantedBug | null;
}

/** Makes the parts of a seed's world. @param isVerbose whether the log has text too. */
export function partsOf(seed: number, isVerbose: boolean, bug: PlantedBug | null): WorldParts {
  const random = new Random(seed);
  return {
    random,
    loop: new VirtualLoop(random),
    log: new EventLog(isVerbose),
    faults: noFaults(),
    rates: drawFaultRates(random),
    bug,
  };
}

/** Time, chance, faults and facts about messages that all parts of one history share. Queues and actors are apart. */
export class World {
  readonly random: Random;
  readonly loop: VirtualLoop;
  readonly log: EventLog;
  readonly faults: FaultCounts;
  readonly bug: PlantedBug | null;
  rates: FaultRates;
  /** Whether faults happen. From false on every consumer, client and endpoint behaves. */
  isTroubled = true;
  /** Time at which the faults stopped, in ms; Infinity before. */
  calmSinceMs = Infinity;
  /** True once every message is handled: from then on no client polls. */
  isDrained = false;
  /** Requests and answers that have left and not arrived: one that comes late may bring messages. */
  travelling = 0;
  /** Whether the queues keep the history of each message, which the dashboard shows. */
  keepsHistory = false;
  violation: Violation | null = null;
  readonly timeOfDay: TimeOfDay;
  readonly transmissions = new Map<number, Transmission>();
  /** Published messages, one for each queue that subscribes. */
  readonly copies = new Map<number, Copy>();
  /** Messages that move tasks have taken from one queue to another. */
  readonly moved = new MovedMessages(() => this.takeTags(1));
  readonly #work = new Set<Promise<unknown>>();
  #tags = 0;
  #messageIds = 0;
  #attemptIds = 0;

  constructor(parts: WorldParts) {
    this.random = parts.random;
    this.loop = parts.loop;
    this.log = parts.log;
    this.faults = parts.faults;
    this.rates = parts.rates;
    this.bug = parts.bug;
    this.timeOfDay = new TimeOfDay(parts.loop, parts.bug?.clock ?? null);
  }

  /** Time that queues go by, in ms since 1970: the loop's, unless the machine's clock is set. */
  get nowMs(): number {
    return this.timeOfDay.nowMs;
  }

  /** Schedules `run` at a moment of the queues' time, or somewhat later while that is slower than the loop's. */
  at(atMs: number, run: () => void): ScheduledEvent {
    return this.loop.after(this.timeOfDay.waitMs(atMs), run);
  }

  /** Takes tags for `count` messages. Returns the first of them. */
  takeTags(count: number): number {
    const first = this.#tags + 1;
    this.#tags += count;
    return first;
  }

  /** Makes an id that no producer gives. */
  newMessageId(): string {
    this.#messageIds += 1;
    return `f${this.#messageIds.toString(16).padStart(31, "0")}`;
  }

  /** Makes an attempt id that no receive has had. */
  newAttemptId(): string {
    this.#attemptIds += 1;
    return `attempt ${this.#attemptIds}`;
  }

  note(kind: EventKind, where: string, a?: number, b?: number): void {
    this.log.note(this.nowMs, kind, where, a, b);
  }

  /** Draws whether a fault happens now, and counts it if it does. */
  fault(probability: number, kind: FaultKind): boolean {
    if (!this.random.chance(probability)) return false;
    this.faults[kind] += 1;
    return true;
  }

  /** Makes the running event wait for work outside of the loop. */
  waitFor(work: Promise<unknown>): void {
    this.#work.add(work);
  }

  /** Resolves when all such work is done. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) {
      const work = [...this.#work];
      this.#work.clear();
      await Promise.allSettled(work);
      await microtasksDone();
    }
  }

  /** Stops all faults. */
  calmDown(): void {
    this.isTroubled = false;
    this.calmSinceMs = this.nowMs;
    this.rates = NO_FAULT_RATES;
    this.note("faults stop", "");
  }

  /** Ends the history with its first violation. */
  fail(property: string, queue: { readonly name: string }, text: string): void {
    this.violation ??= { property, queue: queue.name, text, event: this.loop.events };
  }
}
