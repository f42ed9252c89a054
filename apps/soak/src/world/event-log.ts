/**
 * Kinds of events that a history's log can have, with the meaning of their numbers. Append only: a log's hash contains
 * the position of each kind.
 */
const MEANINGS = {
  "the history begins": [],
  "send leaves a producer": ["messages"],
  "send arrives": ["tag", "messages"],
  "send is answered": ["tag", "1 if stored"],
  "batch leaves the queue": ["lease", "messages"],
  "batch arrives at its consumer": ["lease", "what it does"],
  "batch is answered": ["lease", "outcome"],
  "ping leaves the queue": [],
  "ping is answered": ["1 if the consumer runs"],
  "transfer leaves the queue": ["id", "messages"],
  "transfer arrives": ["source", "id"],
  "transfer is answered": ["id", "1 if taken"],
  "pull arrives": ["most messages", "visibility in ms"],
  "pull is answered": ["lease", "messages"],
  commit: ["version", "segments"],
  durable: ["version"],
  "alarm is set": ["in ms", "version"],
  "alarm rings": ["lateness in ms", "1 if nobody set it"],
  "alarm is handled": [],
  "queue starts": ["epoch", "version"],
  "queue crashes": ["epoch", "commits lost"],
  "queue is evicted": ["epoch"],
  "queue breaks": ["epoch", "commits lost"],
  "clock jumps": ["ms"],
  "settings change": [],
  "writes will fail": ["first", "how many"],
  "cache is dropped": ["segments"],
  "consumer is absent": ["for ms"],
  "figures are asked for": ["ready", "leased"],
  "faults stop": [],
  "the history ends": [],
  "calls are asked for": ["lease"],
  "calls are told": ["lease", "1 if known, 2 if nobody answers"],
  "delivery is paused": ["for ms"],
  "delivery is resumed": [],
  "request leaves the queue again": ["lease", "tag"],
  "request arrives at its endpoint": ["lease", "what it does"],
  "request is answered": ["lease", "status, 0 if none"],
  "worker daemon is drained": ["requests under way"],
  "receive arrives": ["visibility in ms", "waits in ms"],
  "receive is answered": ["lease", "messages"],
  "receipts arrive": ["lease", "receipts"],
  "receipts are done": ["lease", "1 if done"],
  "publish leaves": ["messages"],
  "publish arrives": ["tag", "messages"],
  "publish is answered": ["1 if taken"],
  "queue is deleted": ["messages"],
  "receive is made again": ["lease that it got before"],
  "move is asked for": ["task", "messages a second, 0 if as fast as it goes"],
  "move is answered": ["1 if done, 2 if refused"],
  "move is cancelled": [],
  "directory starts": ["version"],
  "directory ends": ["version"],
  "directory answers": ["revision, 0 if refused"],
  "queue is told what it is, or that it is gone": [],
  "queue learns what it is": ["revision, 0 if there is none or nobody knows"],
  "machine's clock is set": ["by ms", "1 if the process ends"],
  "a Worker hangs the runtime": ["1 if it is blamed, 0 if it is one of several"],
  "a number of shards is asked for": ["shards"],
  "call arrives": ["number", "messages"],
  "call is answered": ["number", "1 if it did not fail"],
  "message is stored": ["tag", "segment"],
  "message is gone": ["tag", "1 if on its way to another object"],
  "message is leased": ["tag", "lease"],
  "purge is asked for": [],
  "purge is answered": ["messages"],
  "queue is created": [],
  "shard is overloaded": ["for ms"],
  "shard is away": ["for ms"],
  "transfer is under way": ["tag", "item"],
} as const satisfies Record<string, readonly string[]>;

export type EventKind = keyof typeof MEANINGS;

const POSITIONS: ReadonlyMap<string, number> = new Map(Object.keys(MEANINGS).map((kind, i) => [kind, i]));

/** Log of events, as a hash that is equal exactly when two histories went the same way, and as text if wanted. */
export class EventLog {
  /** Lines of text, `null` if only the hash is wanted: text costs more than the events. */
  readonly lines: string[] | null;
  #high = 0x9dc5 | 0;
  #low = 0x811c | 0;

  constructor(verbose: boolean) {
    this.lines = verbose ? [] : null;
  }

  note(nowMs: number, kind: EventKind, where: string, a = 0, b = 0): void {
    this.#mix(POSITIONS.get(kind) ?? 0);
    this.#mix(nowMs);
    this.#mix(where.length === 0 ? 0 : where.charCodeAt(where.length - 1));
    this.#mix(a);
    this.#mix(b);
    this.lines?.push(lineOf(nowMs, kind, where, a, b));
  }

  /** Adds a line that is not part of the hash, such as one of the queue's own log. */
  remark(text: string): void {
    this.lines?.push(`             | ${text}`);
  }

  /** 16 hex characters. */
  get hash(): string {
    const half = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
    return half(this.#high) + half(this.#low);
  }

  #mix(value: number): void {
    const low = value | 0;
    const high = Math.floor(value / 2 ** 32) | 0;
    this.#low = Math.imul(this.#low ^ low, 0x85ebca6b) ^ (this.#high >>> 13);
    this.#high = Math.imul(this.#high ^ high ^ this.#low, 0xc2b2ae35) ^ (this.#low >>> 16);
  }
}

function lineOf(nowMs: number, kind: EventKind, where: string, a: number, b: number): string {
  const names: readonly string[] = MEANINGS[kind];
  const numbers = [a, b].slice(0, names.length).map((value, i) => `${names[i]} ${value}`);
  const detail = numbers.length === 0 ? "" : ` (${numbers.join("; ")})`;
  return `${String(nowMs % 1e10).padStart(10)} ms ${where.padEnd(8)} ${kind}${detail}`;
}
