import { type FinishedKind, PackedIndex } from "@sluice/protocol";
import { readableRanges } from "../../store/readable.ts";
import { FINISHED_FIRST_SLOT, type JournalRows, type QueueStore } from "../../store/store.ts";
import { beginningOf } from "../journal/event.ts";
import {
  type Ending,
  encodeFinished,
  FINISHED_HEAD_BYTES,
  type FinishedHead,
  type FinishedStretch,
  readFinished,
  readFinishedHead,
} from "./finished-row.ts";
import { RecordTail } from "./record-tail.ts";

/** Most bytes of the finished messages of a queue: headers, attributes and bodies of the last ones. */
export const FINISHED_BYTES_MAX = 4_000_000;
/** Messages, and bytes of their records, with which a row is full. */
export const FINISHED_ROW_MESSAGES = 250;
export const FINISHED_ROW_BYTES = 250_000;
/** Most bytes that are read for messages that are no longer in memory, between two writes. */
const READ_BYTES_MAX = 4_000_000;

/** Parts of a queue that its finished messages use. */
export interface FinishedPorts {
  readonly nowMs: number;
  /** Time that events are kept, in ms; `null` keeps none. Read for every event, because it can change. */
  readonly keptMs: number | null;
  /** Most finished messages that are kept, at most `FINISHED_MESSAGES_MAX`; 0 keeps none. */
  readonly finishedMax: number;
  readonly store: JournalRows & Pick<QueueStore, "readPayload">;
  /** Returns the records of a segment if they are in memory. */
  inMemory(segmentId: number): PackedIndex | undefined;
  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void;
}

/** A finished message. */
export interface FinishedMessage {
  readonly ending: Ending;
  /** Index in its segment. */
  readonly index: number;
  /** Its record is number `at` of these. */
  readonly payload: PackedIndex;
  readonly at: number;
}

/** Messages, and bytes of their records. */
interface Amount {
  readonly messages: number;
  readonly bytes: number;
}

interface Waiting extends Amount {
  readonly ending: Ending;
}

interface Row extends FinishedHead {
  readonly slot: number;
  /** Content of the row that takes more messages; `null` for other rows, and until it is needed. */
  readonly stretches: readonly FinishedStretch[] | null;
}

/**
 * The messages of a queue that were finished last, with their bodies: `finishedMax` at most, and `FINISHED_BYTES_MAX`.
 *
 * A turn notes ranges. At its end, while the records are in memory anyway, those of the newest ranges are copied; they
 * are written with the quiet events. A crash loses those that wait. Rows of messages that are no longer among the
 * last ones are overwritten.
 */
export class Finished {
  readonly #ports: FinishedPorts;
  readonly #writeLater: () => void;
  #noted: Ending[] = [];
  /** Messages that wait to be written, oldest first, and their records. */
  #waiting: Waiting[] = [];
  readonly #records = new RecordTail();
  #waitingMessages = 0;
  #readBytes = 0;
  /** Rows whose messages count, oldest first; `null` until they are needed, so that a start reads none. */
  #rows: Row[] | null = null;
  #nextNumber = 1;

  /** @param writeLater has `write` called later. */
  constructor(ports: FinishedPorts, writeLater: () => void) {
    this.#ports = ports;
    this.#writeLater = writeLater;
  }

  /** Within a turn: notes that messages have left the queue for good. */
  note(
    kind: FinishedKind,
    { segmentId, from, to, attempts }: Pick<Ending, "segmentId" | "from" | "to" | "attempts">,
    { by, error }: Pick<Ending, "by" | "error"> = {},
  ): void {
    const { finishedMax, nowMs } = this.#ports;
    if (finishedMax === 0) return;
    this.#noted.push({
      kind,
      t: nowMs,
      attempts,
      segmentId,
      from,
      to,
      ...(by === undefined ? {} : { by }),
      ...(error === undefined ? {} : { error: beginningOf(error) }),
    });
    this.#writeLater();
  }

  /** Within a turn, before its commit: copies the records of what it has noted, newest first, as far as they count. */
  collect(): void {
    if (this.#noted.length === 0) return;
    const noted = this.#noted;
    this.#noted = [];
    const { finishedMax } = this.#ports;
    const found: FinishedStretch[] = [];
    const payloads = new Map<number, PackedIndex | null>();
    let messages = 0;
    let bytes = 0;
    for (let i = noted.length - 1; i >= 0 && messages < finishedMax && bytes < FINISHED_BYTES_MAX; i--) {
      const ending = noted[i] as Ending; // i < length
      const payload = this.#payloadOf(ending.segmentId, payloads);
      if (payload === null) continue;
      const from = Math.max(ending.from, ending.to - (finishedMax - messages));
      for (const range of readableRanges(payload, from, ending.to).reverse()) {
        const records = payload.records(range.from, range.to);
        found.push({ ending: { ...ending, ...range }, records });
        messages += range.to - range.from;
        bytes += records.byteLength;
      }
    }
    for (const { ending, records } of found.reverse()) {
      this.#waiting.push({ ending, messages: ending.to - ending.from, bytes: records.byteLength });
      this.#records.append(records);
    }
    this.#waitingMessages += messages;
    if (this.#waitingMessages > 2 * finishedMax || this.#records.byteLength > 2 * FINISHED_BYTES_MAX)
      this.#trim();
  }

  /** Drops waiting messages that are no longer among the newest that are kept. */
  #trim(): void {
    this.#waiting = newest(this.#waiting, this.#ports.finishedMax);
    const { messages, bytes } = sumOf(this.#waiting);
    this.#waitingMessages = messages;
    this.#records.drop(this.#records.byteLength - bytes);
  }

  /** Within a turn, before its commit: adds rows with the messages that wait. */
  write(): void {
    this.#readBytes = 0;
    if (this.#waiting.length === 0) return;
    this.#trim();
    const changed = new Map<number, Row>();
    const all = this.#records.view();
    let at = 0;
    for (const { ending, bytes } of this.#waiting) {
      const records = all.subarray(at, at + bytes);
      at += bytes;
      for (let rest: FinishedStretch | null = { ending, records }; rest !== null; ) {
        const row = this.#openRow();
        const [part, after] = cut(rest, FINISHED_ROW_MESSAGES - row.messages, FINISHED_ROW_BYTES - row.bytes);
        const longer = withStretch(row, part);
        this.#replaceLast(longer);
        changed.set(longer.slot, longer);
        rest = after;
      }
    }
    this.#forgetWaiting();
    const { store, write } = this.#ports;
    for (const row of changed.values()) {
      const body = encodeFinished(row, row.stretches ?? []);
      write(() => store.writeJournal(row.slot, body));
    }
    this.#rows = this.#rows?.map((row) => (isFull(row) ? { ...row, stretches: null } : row)) ?? null;
  }

  /** Within a turn: deletes all of them. */
  clear(): void {
    this.#noted = [];
    this.#forgetWaiting();
    if (this.#open().length === 0) return;
    this.#rows = [];
    const { store, write } = this.#ports;
    write(() => store.deleteJournal(FINISHED_FIRST_SLOT));
  }

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#waitingMessages = 0;
    this.#records.clear();
  }

  /** Most finished messages that are kept; 0 for none. */
  get max(): number {
    return this.#ports.finishedMax;
  }

  /** Number of finished messages; a few more where bytes or age limit them. */
  get count(): number {
    const { finishedMax, keptMs, nowMs } = this.#ports;
    if (finishedMax === 0) return 0;
    const sinceMs = nowMs - (keptMs ?? Infinity);
    const written = sumOf(this.#open().filter(({ untilMs }) => untilMs > sinceMs));
    const waiting = sumOf(this.#waiting.filter(({ ending }) => ending.t > sinceMs));
    return Math.min(finishedMax, written.messages + waiting.messages);
  }

  /** Goes through the finished messages, newest first. */
  *list(): Generator<FinishedMessage, undefined> {
    const { finishedMax, keptMs, nowMs } = this.#ports;
    const sinceMs = nowMs - (keptMs ?? Infinity);
    let messages = 0;
    let bytes = 0;
    for (const { endings, records } of this.#parts()) {
      const payload = new PackedIndex(records);
      let at = payload.count;
      for (const ending of endings.toReversed()) {
        for (let index = ending.to - 1; index >= ending.from; index--) {
          at -= 1;
          messages += 1;
          bytes += payload.records(at, at + 1).byteLength;
          if (messages > finishedMax || bytes > FINISHED_BYTES_MAX || ending.t <= sinceMs) return;
          yield { ending, index, payload, at };
        }
      }
    }
  }

  /** Goes through what waits and what is written, newest first; the endings in each are oldest first. */
  *#parts(): Generator<{ readonly endings: readonly Ending[]; readonly records: Uint8Array }, undefined> {
    if (this.#ports.finishedMax === 0) return;
    yield { endings: this.#waiting.map(({ ending }) => ending), records: this.#records.view() };
    for (const { slot } of this.#open().toReversed()) {
      const body = this.#ports.store.readJournal(slot);
      const read = body === null ? null : readFinished(body);
      if (read !== null) yield read;
    }
  }

  /** Returns the records of a segment, which the commit of this turn may delete; `null` where that takes too long. */
  #payloadOf(id: number, known: Map<number, PackedIndex | null>): PackedIndex | null {
    const before = known.get(id);
    if (before !== undefined) return before;
    const payload = this.#ports.inMemory(id) ?? this.#read(id);
    known.set(id, payload);
    return payload;
  }

  #read(id: number): PackedIndex | null {
    if (this.#readBytes >= READ_BYTES_MAX) return null;
    try {
      const bytes = this.#ports.store.readPayload(id);
      this.#readBytes += bytes?.byteLength ?? 0;
      return bytes === null ? null : new PackedIndex(bytes);
    } catch {
      // Damage is reported when a message is delivered.
      return null;
    }
  }

  /** Returns the row that takes the next messages. */
  #openRow(): Row {
    const rows = this.#open();
    const last = rows.at(-1);
    if (last !== undefined && !isFull(last)) {
      const stretches = last.stretches ?? this.#stretchesOf(last);
      if (stretches !== null) return { ...last, stretches };
    }
    const live = newest(rows, this.#ports.finishedMax);
    const used = new Set(live.map(({ slot }) => slot));
    let slot = FINISHED_FIRST_SLOT;
    while (used.has(slot)) slot += 1;
    const row = { slot, number: this.#nextNumber++, untilMs: 0, messages: 0, bytes: 0, stretches: [] };
    this.#rows = [...live, row];
    return row;
  }

  #replaceLast(row: Row): void {
    this.#rows = [...this.#open().slice(0, -1), row];
  }

  /** Reads a row that is to take more, so that queues which start often do not fill the ring with short rows. */
  #stretchesOf({ slot }: Row): FinishedStretch[] | null {
    const body = this.#ports.store.readJournal(slot);
    const read = body === null ? null : readFinished(body);
    if (read === null) return null;
    const payload = new PackedIndex(read.records);
    let at = 0;
    return read.endings.map((ending) => {
      const from = at;
      at += ending.to - ending.from;
      return { ending, records: payload.records(from, at) };
    });
  }

  #open(): Row[] {
    if (this.#rows !== null) return this.#rows;
    const rows: Row[] = [];
    const { store } = this.#ports;
    const heads = store.journalHeads(FINISHED_HEAD_BYTES, FINISHED_FIRST_SLOT, Number.MAX_SAFE_INTEGER);
    for (const { slot, head } of heads) {
      const read = readFinishedHead(head);
      if (read !== null && isPossible(read)) rows.push({ ...read, slot, stretches: null });
    }
    rows.sort((a, b) => a.number - b.number);
    this.#nextNumber = (rows.at(-1)?.number ?? 0) + 1;
    this.#rows = rows;
    return rows;
  }
}

/** Keeps the newest parts, up to the one that reaches `finishedMax` messages or `FINISHED_BYTES_MAX`. */
function newest<Part extends Amount>(parts: readonly Part[], finishedMax: number): Part[] {
  let messages = 0;
  let bytes = 0;
  let from = parts.length;
  while (from > 0 && messages < finishedMax && bytes < FINISHED_BYTES_MAX) {
    from -= 1;
    messages += parts[from]?.messages ?? 0;
    bytes += parts[from]?.bytes ?? 0;
  }
  return parts.slice(from);
}

function sumOf(parts: readonly Amount[]): Amount {
  let messages = 0;
  let bytes = 0;
  for (const part of parts) {
    messages += part.messages;
    bytes += part.bytes;
  }
  return { messages, bytes };
}

/** Whether a row can have a head. A damaged one would keep the slots of others, or spoil the numbers of later rows. */
function isPossible({ number, untilMs, messages, bytes }: FinishedHead): boolean {
  const isCount = Number.isSafeInteger(number) && number > 0;
  return isCount && untilMs >= 0 && messages <= FINISHED_ROW_MESSAGES && bytes <= FINISHED_BYTES_MAX;
}

function isFull({ messages, bytes }: Row): boolean {
  return messages >= FINISHED_ROW_MESSAGES || bytes >= FINISHED_ROW_BYTES;
}

function withStretch(row: Row, stretch: FinishedStretch): Row {
  const { ending, records } = stretch;
  return {
    ...row,
    untilMs: Math.max(row.untilMs, ending.t),
    messages: row.messages + ending.to - ending.from,
    bytes: row.bytes + records.byteLength,
    stretches: [...(row.stretches ?? []), stretch],
  };
}

/**
 * Cuts a copy of the first messages off, at least one, until one of the limits is reached, and returns the rest too.
 */
function cut(
  { ending, records }: FinishedStretch,
  messages: number,
  bytes: number,
): [part: FinishedStretch, rest: FinishedStretch | null] {
  const { count, offsets } = new PackedIndex(records);
  let taken = 1;
  while (taken < count && taken < messages && (offsets[taken] ?? 0) < bytes) taken += 1;
  const end = offsets[taken] ?? 0;
  const at = ending.from + taken;
  return [
    { ending: { ...ending, to: at }, records: records.slice(0, end) },
    taken === count ? null : { ending: { ...ending, from: at }, records: records.subarray(end) },
  ];
}
