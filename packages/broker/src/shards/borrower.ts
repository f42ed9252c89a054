import type { LentPart, Part, PartNeed, PartRequest } from "@sluice/protocol";

/** How long after a question the next one is asked where a part is missing, in ms. */
export const ASK_AGAIN_MS = 500;
/** How long a shard without work keeps its part, in ms. */
export const IDLE_MS = 1_000;
/** How long an answer is waited for, in ms. A later one is ignored. */
export const ANSWER_MS_MAX = 5_000;
/** How long after a question a shard reports that it uses less, in ms. */
const SHRUNK_MS = 50;
/** Share of its time after which a part is renewed. */
const RENEWED_AFTER = 0.75;
/** How often a shard without work tries to give its part back. Shard 0 counts it until it has ended by itself then. */
const RETURNS_MAX = 5;
/** Questions in a ms at most: their numbers begin with the time, so that they grow over restarts that write nothing. */
const QUESTIONS_PER_MS = 1_000;

export const LIMIT_KINDS = ["deliveries", "messages"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** Units of a limit that a shard uses, and could use. */
export interface Need {
  readonly used: number;
  readonly wanted: number;
}

export interface BorrowerPorts {
  /** Number of this shard. */
  shard(): number;
  /** Real time, which no test moves, in ms. */
  now(): number;
  /** Asks shard 0. */
  ask(request: PartRequest): Promise<Part>;
  after(callback: () => void, ms: number): void;
  /** Needs of the moment; `null` for a limit that the queue has not. */
  need(kind: LimitKind): Need | null;
  /** Called when an answer has replaced the part. */
  changed(): void;
}

interface Held {
  readonly units: number;
  /** Units that shard 0 counts as this shard's. */
  readonly counted: number;
  /** When the part ends, and when to ask for the next one, in ms. */
  readonly untilMs: number;
  readonly renewMs: number;
}

const NOTHING: Held = { units: 0, counted: 0, untilMs: 0, renewMs: 0 };
const NO_NEED: Need = { used: 0, wanted: 0 };

/** A shard's side of the limits that its queue has as a whole: asks shard 0 for a part of them while there is work. */
export class Borrower {
  readonly #ports: BorrowerPorts;
  readonly #held: Record<LimitKind, Held> = { deliveries: NOTHING, messages: NOTHING };
  /** How often it still tries to give its part back; 0 while shard 0 counts none of it as lent. */
  #returns = 0;
  #lender = 0;
  #number: number;
  #askedMs = Number.NEGATIVE_INFINITY;
  /** Number of the question that is not answered yet. */
  #open: number | null = null;
  #idleSinceMs: number | null = null;
  #timerMs: number | null = null;
  #hasEnded = false;

  constructor(ports: BorrowerPorts) {
    this.#ports = ports;
    this.#number = ports.now() * QUESTIONS_PER_MS;
  }

  /** Units that may be in use now: any number where the queue has no such limit. */
  units(kind: LimitKind): number {
    if (this.#ports.need(kind) === null) return Number.POSITIVE_INFINITY;
    return this.#unitsOf(kind);
  }

  /** Answers shard 0, which has begun anew. */
  tell(lender: number): PartRequest {
    this.#lender = Math.max(this.#lender, lender);
    // An answer on its way is the earlier lender's, or to a question that is late once this one is sent.
    if (this.#open !== null) this.#askedMs = Number.NEGATIVE_INFINITY;
    this.#open = null;
    return this.#request();
  }

  /** Whether work waits for a part. */
  get isWaiting(): boolean {
    return LIMIT_KINDS.some((kind) => this.#isShort(kind));
  }

  /** Stops asking. A queue that has ended would report the deliveries of that moment for ever. */
  end(): void {
    this.#hasEnded = true;
    // An answer on its way is ignored.
    this.#open = null;
  }

  /** At the end of a turn: asks for a part, or gives it back, if that is due. */
  look(): void {
    if (this.#hasEnded) return;
    if (LIMIT_KINDS.every((kind) => this.#ports.need(kind) === null) && this.#returns === 0) return;
    const nowMs = this.#ports.now();
    const dueMs = this.#dueMs(nowMs);
    if (dueMs === null) return;
    if (dueMs > nowMs) this.#lookAt(dueMs, nowMs);
    else if (this.#open === null) void this.#ask(nowMs);
  }

  /** When the next question is due; `null` if none is. */
  #dueMs(nowMs: number): number | null {
    const needs = LIMIT_KINDS.map((kind) => this.#ports.need(kind) ?? NO_NEED);
    const isIdle = needs.every(({ used, wanted }) => used === 0 && wanted === 0);
    if (!isIdle) this.#idleSinceMs = null;
    else {
      this.#idleSinceMs ??= nowMs;
      return this.#returns > 0 ? Math.max(this.#idleSinceMs + IDLE_MS, this.#askedMs + ASK_AGAIN_MS) : null;
    }
    // Other shards wait for the units that this one was told to give back.
    if (LIMIT_KINDS.some((kind) => this.#hasShrunk(kind))) return this.#askedMs + SHRUNK_MS;
    if (this.isWaiting || LIMIT_KINDS.some((kind) => this.#usesMore(kind)))
      return this.#askedMs + ASK_AGAIN_MS;
    const renewals = LIMIT_KINDS.flatMap((kind) =>
      this.#unitsOf(kind) > 0 ? [this.#held[kind].renewMs] : [],
    );
    return renewals.length === 0 ? null : Math.max(Math.min(...renewals), this.#askedMs + ASK_AGAIN_MS);
  }

  #hasShrunk(kind: LimitKind): boolean {
    const { units, counted } = this.#held[kind];
    return Math.max(units, this.#ports.need(kind)?.used ?? 0) < counted;
  }

  /** Whether more is in use than lent, begun before other shards shared the limit: shard 0 does not know of it. */
  #usesMore(kind: LimitKind): boolean {
    return (this.#ports.need(kind)?.used ?? 0) > this.#unitsOf(kind);
  }

  #isShort(kind: LimitKind): boolean {
    const need = this.#ports.need(kind);
    return need !== null && need.wanted > this.#unitsOf(kind);
  }

  #unitsOf(kind: LimitKind): number {
    const { units, untilMs } = this.#held[kind];
    return this.#ports.now() < untilMs ? units : 0;
  }

  #lookAt(atMs: number, nowMs: number): void {
    if (this.#timerMs !== null && this.#timerMs <= atMs && this.#timerMs > nowMs) return;
    this.#timerMs = atMs;
    this.#ports.after(() => {
      if (this.#timerMs === atMs) this.#timerMs = null;
      this.look();
    }, atMs - nowMs);
  }

  async #ask(nowMs: number): Promise<void> {
    if (this.#idleSinceMs === null) this.#returns = RETURNS_MAX;
    else {
      for (const kind of LIMIT_KINDS) this.#held[kind] = NOTHING;
      this.#returns -= 1;
    }
    const request = this.#request();
    const { number } = request;
    this.#open = number;
    this.#askedMs = nowMs;
    this.#ports.after(() => this.#close(number), ANSWER_MS_MAX);
    try {
      const part = await this.#ports.ask(request);
      if (this.#open === number && part.lender >= this.#lender) this.#take(part, nowMs, request);
    } catch {
      // The part that it has goes on until it ends.
    }
    this.#close(number);
  }

  #take(part: Part, askedMs: number, request: PartRequest): void {
    this.#lender = part.lender;
    for (const kind of LIMIT_KINDS) this.#held[kind] = heldOf(part[kind], request[kind], askedMs);
    if (LIMIT_KINDS.every((kind) => request[kind].part === 0 && request[kind].wanted === 0))
      this.#returns = 0;
    this.#open = null;
    this.#ports.changed();
  }

  /** Closes a question that has its answer, or gets none. */
  #close(number: number): void {
    if (this.#open === number) this.#open = null;
    this.look();
  }

  #request(): PartRequest {
    this.#number += 1;
    const needOf = (kind: LimitKind): PartNeed => {
      const { used, wanted } = this.#ports.need(kind) ?? NO_NEED;
      return { part: this.#unitsOf(kind), used, wanted };
    };
    return {
      shard: this.#ports.shard(),
      number: this.#number,
      lender: this.#lender,
      deliveries: needOf("deliveries"),
      messages: needOf("messages"),
    };
  }
}

function heldOf(lent: LentPart | null, { part, used }: PartNeed, askedMs: number): Held {
  if (lent === null) return NOTHING;
  const { units, expiresInMs } = lent;
  return {
    units,
    counted: Math.max(part, used, units),
    untilMs: askedMs + expiresInMs,
    renewMs: askedMs + RENEWED_AFTER * expiresInMs,
  };
}
