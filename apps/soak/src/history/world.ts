import type { Checker, Property } from "../checkers/checker.ts";
import { MovedMessages } from "../ledger/moved-messages.ts";
import type { Copy } from "../ledger/publications.ts";
import type { Transmission } from "../ledger/transmission.ts";
import type { PlantedBug } from "../planted/planted-bug.ts";
import type { DirectoryObject } from "../platform/directory-object.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { EventKind, EventLog } from "./event-log.ts";
import type { FaultCounts, FaultKind, FaultRates } from "./faults.ts";
import { NO_FAULT_RATES } from "./faults.ts";
import type { Random } from "./random.ts";
import type { VirtualLoop } from "./virtual-loop.ts";

/** What broke, first of all. */
export interface Violation {
  readonly property: Property;
  readonly queue: string;
  readonly text: string;
  readonly event: number;
}

type Hook = Exclude<keyof Checker, "property">;
type HookArguments<Name extends Hook> = Parameters<NonNullable<Checker[Name]>>;

/** What all parts of one history share. */
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
  queues: readonly QueueObject[] = [];
  violation: Violation | null = null;
  readonly transmissions = new Map<number, Transmission>();
  /** Published messages, one for each queue that subscribes. */
  readonly copies = new Map<number, Copy>();
  /** The directory, where there is one: without it settings come with the code. */
  directory: DirectoryObject | null = null;
  /** Messages that move tasks have taken from one queue to another. */
  readonly moved = new MovedMessages(() => this.takeTags(1));
  readonly #checkers: readonly Checker[];
  #tags = 0;
  #messageIds = 0;
  #attemptIds = 0;

  constructor(parts: {
    random: Random;
    loop: VirtualLoop;
    log: EventLog;
    faults: FaultCounts;
    rates: FaultRates;
    checkers: readonly Checker[];
    bug: PlantedBug | null;
  }) {
    this.random = parts.random;
    this.loop = parts.loop;
    this.log = parts.log;
    this.faults = parts.faults;
    this.rates = parts.rates;
    this.bug = parts.bug;
    this.#checkers = parts.checkers;
  }

  get nowMs(): number {
    return this.loop.nowMs;
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

  queueNamed(name: string): QueueObject | undefined {
    return this.queues.find((queue) => queue.name === name);
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

  calmDown(): void {
    this.isTroubled = false;
    this.calmSinceMs = this.nowMs;
    this.rates = NO_FAULT_RATES;
    this.note("faults stop", "");
  }

  /** Asks every checker that looks at this kind of moment. */
  check<Name extends Hook>(name: Name, ...args: HookArguments<Name>): void {
    for (const checker of this.#checkers) {
      const hook = checker[name] as ((...args: HookArguments<Name>) => string | undefined) | undefined;
      const text = hook?.(...args);
      if (text !== undefined) this.fail(checker.property, args[0], text);
    }
  }

  /** Ends the history with its first violation. */
  fail(property: Property, queue: QueueObject, text: string): void {
    this.violation ??= { property, queue: queue.name, text, event: this.loop.events };
  }

  /** The history does not end although nothing goes wrong any more. */
  stuck(text: string): void {
    const waiting = this.queues.map(({ name, ledger }) => {
      const { waiting, leased } = ledger.counts;
      return `${name}: ${waiting} waiting, ${leased} leased, ${ledger.parcels.size} hand-overs`;
    });
    const [queue] = this.queues;
    if (queue !== undefined) this.check("stuck", queue, `${text}; ${waiting.join("; ")}`);
  }
}
