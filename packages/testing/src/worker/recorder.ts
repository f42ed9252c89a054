import type { NotedEvent } from "@sluice/broker";
import type { PackedIndex } from "@sluice/protocol";
import type { Fault } from "../api.ts";
import { type Entry, toBase64 } from "../wire.ts";

/** Digits of a message id. An event has its ids joined in one text. */
const ID_LENGTH = 32;

/** An entry before it has a number. */
type Unnumbered = Entry extends infer Each ? (Each extends Entry ? Omit<Each, "n"> : never) : never;

/** Records everything in the queues of a broker since the last `clear`, in memory and in one order. */
export class Recorder {
  #entries: Entry[] = [];
  #first = 1;
  #deliveries = 0;
  /** Ids by queue, segment and place, for events without ids. */
  readonly #ids = new Map<string, string>();
  readonly #numbers = new Map<string, number>();
  readonly #attempts = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #opened = new Set<string>();

  /** Number of the last entry, which only grows. */
  get last(): number {
    return this.#first + this.#entries.length - 1;
  }

  /** Number of deliveries since the last `clear`. */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** Queues and topics whose objects have started since the last `clear`. Other queues are empty. */
  get open(): readonly string[] {
    return [...this.#opened];
  }

  /** Returns the entries after number `n`. */
  after(n: number): readonly Entry[] {
    return this.#entries.slice(Math.max(0, n + 1 - this.#first));
  }

  /**
   * Calls back after each entry, until the returned function is called. A promise would not do, because in workerd a
   * request must not wait for a promise of another one.
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets everything but the last number. */
  clear(): void {
    this.#first = this.last + 1;
    this.#entries = [];
    this.#deliveries = 0;
    this.#opened.clear();
    for (const map of [this.#ids, this.#numbers, this.#attempts]) map.clear();
  }

  /** Returns the number of a message in the order of sends; 0 for an unknown one. */
  numberOf(id: string): number {
    return this.#numbers.get(id) ?? 0;
  }

  opened(queue: string): void {
    this.#opened.add(queue);
  }

  stored(queue: string, messages: PackedIndex, from: number, count: number): void {
    const packed = messages.packed.subarray(messages.offsets[from], messages.offsets[from + count]);
    this.#add({ kind: "stored", queue, packed: toBase64(packed) });
  }

  noted(queue: string, event: NotedEvent, atMs: number): void {
    this.#opened.add(queue);
    if (event.kind === "printed") return;
    const { kind, at = [], by, to, otherIds, batch, delayMs, error } = event;
    const places = placesOf(queue, at);
    const ids =
      event.ids === undefined ? places.flatMap((place) => this.#ids.get(place) ?? []) : idsIn(event.ids);
    if (kind === "accepted" || kind === "arrived") {
      for (const [i, id] of ids.entries()) {
        if (places[i] !== undefined) this.#ids.set(places[i], id);
        if (!this.#numbers.has(id)) this.#numbers.set(id, this.#numbers.size + 1);
      }
    }
    this.#add({
      kind,
      queue,
      atMs,
      ids,
      ...(kind === "delivered" ? { attempts: this.#delivered(queue, ids) } : {}),
      ...(by === undefined || by === "" ? {} : { by }),
      ...(to === undefined ? {} : { to }),
      ...(otherIds === undefined ? {} : { otherIds: idsIn(otherIds) }),
      ...(batch === undefined ? {} : { batch }),
      ...(delayMs === undefined ? {} : { delayMs }),
      ...(error === undefined ? {} : { error }),
    });
    // The consumer was absent, so the delivery does not count.
    if (kind === "retried" && event.delay === "absence") this.#undelivered(queue, ids);
  }

  due(queue: string, faults: readonly Fault[]): void {
    this.#add({ kind: "due", queue, faults });
  }

  fault(queue: string, fault: Fault): void {
    this.#add({ kind: "fault", queue, fault });
  }

  #delivered(queue: string, ids: readonly string[]): number[] {
    this.#deliveries += 1;
    return ids.map((id) => {
      const attempt = (this.#attempts.get(`${queue} ${id}`) ?? 0) + 1;
      this.#attempts.set(`${queue} ${id}`, attempt);
      return attempt;
    });
  }

  #undelivered(queue: string, ids: readonly string[]): void {
    for (const id of ids) {
      this.#attempts.set(`${queue} ${id}`, (this.#attempts.get(`${queue} ${id}`) ?? 1) - 1);
    }
  }

  #add(entry: Unnumbered): void {
    this.#entries.push({ n: this.last + 1, ...entry } as Entry);
    for (const listener of this.#listeners) listener();
  }
}

function idsIn(joined: string): string[] {
  return Array.from({ length: joined.length / ID_LENGTH }, (_, i) =>
    joined.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH),
  );
}

/** Names the places of messages, which an event lists as segment, begin and end. */
function placesOf(queue: string, at: readonly number[]): string[] {
  const places: string[] = [];
  for (let i = 0; i < at.length; i += 3) {
    for (let index = at[i + 1] ?? 0; index < (at[i + 2] ?? 0); index++) {
      places.push(`${queue} ${at[i]} ${index}`);
    }
  }
  return places;
}
