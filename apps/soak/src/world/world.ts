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

/** Makes the parts of the world of a seed. @param isVerbose whether its log is text too. */
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

/** Time, chance, faults and what everybody knows of the messages in one history. It knows nobody who lives in it. */
export class World {
  readonly random: Random;
  readonly loop: VirtualLoop;
  readonly log: EventLog;
  readonly faults: FaultCounts;
  readonly bug: PlantedBug | null;
  rates: FaultRates;
  /** False once the faults have stopped: from then on everybody behaves. */
  isTroubled = true;
  /** Since when, in ms; Infinity before. */
  calmSinceMs = Infinity;
  /** True once everything is handled: from then on nobody asks for anything. */
  isDrained = false;
  /** Requests and answers that have left and not arrived: one that comes late may bring messages. */
  travelling = 0;
  /** Whether the queues note what happens to messages. */
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

  /** The time that queues go by, in ms since 1970: the loop's, unless somebody sets the machine's clock. */
  get nowMs(): number {
    return this.timeOfDay.nowMs;
  }

  /** Lets `run` happen at a moment of the queues' time, or somewhat later where that does not pass as the loop's does. */
  at(atMs: number, run: () => void): ScheduledEvent {
    return this.loop.after(this.timeOfDay.waitMs(atMs), run);
  }

  /** Tags for `count` messages: the first of them. */
  takeTags(count: number): number {
    const first = this.#tags + 1;
    this.#tags += count;
    return first;
  }

  /** An id that no producer gives. */
  newMessageId(): string {
    this.#messageIds += 1;
    return `f${this.#messageIds.toString(16).padStart(31, "0")}`;
  }

  /** An attempt id that no receive has had. */
  newAttemptId(): string {
    this.#attemptIds += 1;
    return `attempt ${this.#attemptIds}`;
  }

  note(kind: EventKind, where: string, a?: number, b?: number): void {
    this.log.note(this.nowMs, kind, where, a, b);
  }

  /** Whether a fault happens now; counted if it does. */
  fault(probability: number, kind: FaultKind): boolean {
    if (!this.random.chance(probability)) return false;
    this.faults[kind] += 1;
    return true;
  }

  /** Something goes on outside of the loop that the event under way waits for. */
  waitFor(work: Promise<unknown>): void {
    this.#work.add(work);
  }

  /** Resolves when nothing goes on outside of the loop any more. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) {
      const work = [...this.#work];
      this.#work.clear();
      await Promise.allSettled(work);
      await microtasksDone();
    }
  }

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
