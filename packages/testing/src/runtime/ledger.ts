import { decodeBodies, PackedIndex } from "@sluice/protocol";
import type { Batch, DeadLetter, DeliveryError, Fault, Progress, State, Story, StoryEvent } from "../api.ts";
import { type Entry, fromBase64, type HappenedEntry } from "../wire.ts";
import { deliveryError } from "./errors.ts";

/** A message with its story so far. */
interface TrackedMessage {
  readonly id: string;
  readonly body: unknown;
  queue: string;
  readonly firstQueue: string;
  readonly events: StoryEvent[];
  attempt: number;
  /** Last error of its handler, until the next event has it. */
  error: string | null;
}

const STATES: Readonly<Partial<Record<HappenedEntry["kind"], State>>> = {
  accepted: "stored",
  arrived: "stored",
  delivered: "delivered",
  acked: "acked",
  retried: "retried",
  deadLettered: "dead",
  dropped: "dead",
  expired: "expired",
  deleted: "expired",
};

/** Derives stories of messages, batches and dead letters from the broker's record. No I/O. */
export class Ledger {
  /** Number of the last entry. */
  last: number;
  /** Queues in which something has happened. */
  readonly queues = new Set<string>();
  readonly faults: Fault[] = [];
  /** Planned faults whose delivery has begun. */
  readonly dueFaults: Fault[] = [];
  readonly batches: Batch[] = [];
  readonly deadLetters: (DeadLetter & { readonly queue: string })[] = [];
  readonly #messages = new Map<string, TrackedMessage>();
  readonly #bodies = new Map<string, unknown>();
  /** First ids of messages by the ids that they got when they were redriven. */
  readonly #aliases = new Map<string, string>();

  /** Maps stack traces to the user's sources. */
  readonly #rewrite: (text: string) => string;

  constructor(last: number, rewrite: (text: string) => string) {
    this.last = last;
    this.#rewrite = rewrite;
  }

  /** Adds entries, and returns what happened in them. */
  take(entries: readonly Entry[]): Omit<Progress, "nextDue"> {
    const counts = { delivered: 0, acked: 0, retried: 0, dead: 0 };
    const errors: DeliveryError[] = [];
    for (const each of entries) {
      if (each.n <= this.last) continue;
      const entry = "error" in each ? { ...each, error: this.#rewrite(each.error ?? "") } : each;
      this.last = entry.n;
      this.queues.add(entry.queue);
      if (entry.kind === "stored") this.#store(entry.packed);
      else if (entry.kind === "fault") this.faults.push(entry.fault);
      else if (entry.kind === "due") this.dueFaults.push(...entry.faults);
      else {
        this.#happened(entry);
        const state = STATES[entry.kind];
        if (state !== undefined && state in counts) counts[state as keyof typeof counts] += entry.ids.length;
        if (entry.kind === "failed") errors.push(deliveryError(entry));
      }
    }
    return { ...counts, errors };
  }

  story(id: string): Story | undefined {
    const message = this.#messages.get(this.#aliases.get(id) ?? id);
    return message === undefined ? undefined : storyOf(message);
  }

  /** Returns the body of a message. */
  bodyOf(id: string): unknown {
    return this.#bodies.get(id);
  }

  /** Lists the stories in the order of the messages' sends. */
  stories(): Story[] {
    return [...this.#messages.values()].map(storyOf);
  }

  #store(packed: string): void {
    const index = new PackedIndex(fromBase64(packed));
    const bodies = decodeBodies(index);
    for (const [i, id] of index.ids().entries()) if (!this.#bodies.has(id)) this.#bodies.set(id, bodies[i]);
  }

  #happened(entry: HappenedEntry): void {
    const { kind, queue, ids, otherIds = [] } = entry;
    if (kind === "delivered") this.#delivered(entry);
    if (kind === "purged") {
      for (const message of this.#messages.values()) {
        if (message.queue === queue && isHere(message.events.at(-1)?.what))
          this.#add(message, entry, "expired");
      }
      return;
    }
    for (const [i, id] of ids.entries()) {
      const otherId = otherIds[i];
      if (kind === "redriven" && otherId !== undefined)
        this.#aliases.set(otherId, this.#aliases.get(id) ?? id);
      const message = this.#messageOf(this.#aliases.get(id) ?? id, queue);
      if (kind === "failed") message.error = entry.error ?? null;
      const state = STATES[kind];
      if (state === undefined) continue;
      if (kind === "delivered") message.attempt = entry.attempts?.[i] ?? message.attempt + 1;
      if (kind === "deadLettered" || kind === "dropped") this.#died(message, entry);
      const isArrivedDead = kind === "arrived" && message.events.at(-1)?.what === "dead";
      if (kind === "arrived") Object.assign(message, { queue, attempt: 0 });
      if (!isArrivedDead) this.#add(message, entry, state);
    }
  }

  #messageOf(id: string, queue: string): TrackedMessage {
    const known = this.#messages.get(id);
    if (known !== undefined) return known;
    const message: TrackedMessage = {
      id,
      body: this.#bodies.get(id),
      queue,
      firstQueue: queue,
      events: [],
      attempt: 0,
      error: null,
    };
    this.#messages.set(id, message);
    return message;
  }

  #add(message: TrackedMessage, entry: HappenedEntry, what: State): void {
    const { queue, atMs, delayMs } = entry;
    const error = entry.error ?? message.error;
    const isEnd = what === "retried" || what === "dead";
    message.events.push({
      at: new Date(atMs),
      what,
      queue,
      attempt: message.attempt,
      ...(what === "delivered" ? { batch: this.batches.length - 1 } : {}),
      ...(delayMs === undefined ? {} : { delay: delayMs / 1_000 }),
      ...(isEnd && error !== null ? { error } : {}),
    });
    if (isEnd) message.error = null;
  }

  #delivered({ queue, atMs, ids, by = "", attempts = [] }: HappenedEntry): void {
    const messages = ids.map((id, i) => ({ id, body: this.#bodies.get(id), attempt: attempts[i] ?? 1 }));
    this.batches.push({ queue, at: new Date(atMs), consumer: by, messages });
  }

  #died({ id, body, attempt, error }: TrackedMessage, entry: HappenedEntry): void {
    this.deadLetters.push({
      id,
      body,
      queue: entry.queue,
      at: new Date(entry.atMs),
      attempts: attempt,
      error: error ?? entry.error ?? "",
      to: entry.to ?? null,
    });
  }
}

function isHere(state: State | undefined): boolean {
  return state === "stored" || state === "delivered" || state === "retried" || state === "dead";
}

function storyOf({ id, firstQueue, body, events }: TrackedMessage): Story {
  return { id, queue: firstQueue, body, state: events.at(-1)?.what ?? "stored", events: [...events] };
}
