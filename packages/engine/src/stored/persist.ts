import { advanceSegment } from "../queue/advance.ts";
import { ID_MAX } from "../queue/epochs.ts";
import { orderOf, type Queue } from "../queue/queue.ts";
import { Entry, Group, type LeaseKind, NO_GROUP, Segment } from "../segments/segment.ts";
import { ByteFormatError, ByteReader, ByteWriter } from "./bytes.ts";

/*
 * The formats of index and state are contracts: stored segments have them. Each begins with its version; a change needs
 * a new version and a reader for the old one.
 */
const INDEX_VERSION = 1;
/** An index of version 1, followed by the groups of its messages. */
const GROUPED_INDEX_VERSION = 2;
const STATE_VERSION = 1;

/** Bytes that an index takes beside its sizes, about, and for each run. */
const INDEX_HEADER_BYTES = 16;
const RUN_BYTES = 24;

/** The last moment that a `Date` can name, in ms since 1970. */
const TIME_MS_MAX = 8.64e15;

/** In stored order: append, never reorder. */
const LEASE_KINDS: readonly LeaseKind[] = ["push", "pull", "receive"];
const KIND_WAITING = 0;
/** Added to the kind of an entry whose first receive is stored. */
const WAS_RECEIVED = 16;

/** Encodes the data of a segment's messages that only appending changes: sizes, due times, sequence numbers. */
export function encodeIndex(segment: Segment): Uint8Array {
  const { runs } = segment;
  const out = new ByteWriter(INDEX_HEADER_BYTES + 2 * segment.count + RUN_BYTES * runs.length);
  out.uint(segment.groups === null ? INDEX_VERSION : GROUPED_INDEX_VERSION);
  out.uint(segment.count);
  for (const size of segment.sizes) out.uint(size);
  out.uint(runs.length);
  for (let r = 0; r < runs.length; r++) {
    out.uint(runs.from(r));
    out.uint(runs.seq(r));
    out.float(runs.dueMs(r));
    out.float(runs.acceptedMs(r));
  }
  if (segment.groups !== null) encodeGroups(out, segment.groups);
  return out.finish();
}

/** Writes the names of the groups, then for each message the number of its group. */
function encodeGroups(out: ByteWriter, groups: readonly Group[]): void {
  const numbers = new Map<string, number>();
  for (const { id } of groups) if (!numbers.has(id)) numbers.set(id, numbers.size);
  out.uint(numbers.size);
  for (const id of numbers.keys()) out.text(id);
  for (const { id } of groups) out.uint(numbers.get(id) ?? 0);
}

/** Encodes the state of a segment's messages; `null` when none was ever touched. */
export function encodeState(segment: Segment): Uint8Array | null {
  if (segment.cursor === 0) return null;
  const out = new ByteWriter();
  out.uint(STATE_VERSION);
  out.uint(segment.cursor);
  out.uint(segment.entries.length);
  for (const entry of segment.entries) {
    out.uint(entry.from);
    out.uint(entry.to);
    out.uint(entry.attempts);
    const kind = entry.state === "leased" ? 1 + LEASE_KINDS.indexOf(entry.leaseKind) : KIND_WAITING;
    out.uint(entry.firstReceivedMs > 0 ? kind + WAS_RECEIVED : kind);
    out.float(entry.atMs);
    out.uint(entry.leaseId);
    if (entry.firstReceivedMs > 0) out.float(entry.firstReceivedMs);
  }
  return out.finish();
}

/**
 * Puts a stored segment back into the queue. Segments must be restored in order of their ids.
 *
 * Throws `ByteFormatError` on bytes that are none of ours, and then has changed nothing.
 */
export function restoreSegment(
  queue: Queue,
  id: number,
  index: Uint8Array,
  state: Uint8Array | null,
  nowMs: number,
): void {
  const { segment, groupIds } = decodeIndex(id, index);
  const entries = state === null ? [] : decodeState(segment, state);
  for (const entry of entries) {
    segment.entries.push(entry);
    if (entry.state === "leased") {
      queue.leased.push(entry);
      queue.leasedCount += entry.count;
      queue.nextLeaseId = Math.max(queue.nextLeaseId, entry.leaseId + 1);
    } else {
      queue.delayed.push(entry);
      queue.delayedCount += entry.count;
      queue.waitingBytes += segment.bytes(entry.from, entry.to);
    }
  }
  segment.remaining = segment.count - segment.cursor + entries.reduce((sum, entry) => sum + entry.count, 0);
  segment.readyEnd = segment.cursor;
  if (!segment.runs.isAgeOrdered || segment.runs.oldestMs < queue.restoredToMs) queue.isAgeOrdered = false;
  queue.restoredToMs = segment.runs.oldestMs;
  queue.segments.set(id, segment);
  queue.delayedCount += segment.count - segment.cursor;
  queue.waitingBytes += segment.bytes(segment.cursor, segment.count);
  queue.nextSegmentId = Math.max(queue.nextSegmentId, id + 1);
  const { runs } = segment;
  for (let r = 0; r < runs.length; r++) {
    const end = r + 1 < runs.length ? runs.from(r + 1) : segment.count;
    queue.nextSeq = Math.max(queue.nextSeq, runs.seq(r) + end - runs.from(r));
  }
  if (queue.isFifo || groupIds !== null) restoreGroups(queue, segment, groupIds);
  advanceSegment(queue, segment, nowMs);
}

/**
 * Adds the messages that are left to the queue's groups. Messages from before the queue was a FIFO queue share one
 * group.
 */
function restoreGroups(queue: Queue, segment: Segment, groupIds: readonly string[] | null): void {
  const order = orderOf(queue);
  segment.groups = Array.from(segment.sizes, (_, i) => {
    const id = groupIds?.[i] ?? NO_GROUP;
    // The name of a group whose messages are gone is still stored with the segment.
    return segment.has(i) ? order.groupOf(id) : new Group(id);
  });
  const ranges = [...segment.entries, { from: segment.cursor, to: segment.count }];
  for (const { from, to } of ranges) order.added(segment, from, to, segment.runs.acceptedMs(0));
  for (const entry of segment.entries) {
    if (entry.state === "leased") order.leaseChanged(segment, entry.from, entry.to, 1);
  }
}

function decodeIndex(id: number, bytes: Uint8Array): { segment: Segment; groupIds: string[] | null } {
  const input = new ByteReader(bytes);
  const version = input.uint();
  expectVersion(version, [INDEX_VERSION, GROUPED_INDEX_VERSION], "segment index");
  const count = input.uint();
  if (count === 0 || count > bytes.length) throw new ByteFormatError(`a segment of ${count} messages`);
  const sizes = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const size = input.uint();
    if (size > 0xffff_ffff) throw new ByteFormatError(`message ${i} of ${size} bytes`);
    sizes[i] = size;
  }
  const segment = new Segment(id, sizes);
  const runCount = input.uint();
  let lastFrom = -1;
  let lastDueMs = -Infinity;
  for (let r = 0; r < runCount; r++) {
    const [from, seq, dueMs, acceptedMs] = [input.uint(), input.uint(), readTime(input), readTime(input)];
    if (from <= lastFrom || from >= count || (r === 0 && from !== 0) || dueMs < lastDueMs || seq > ID_MAX) {
      throw new ByteFormatError(`run ${r} from ${from}, number ${seq}, due ${dueMs}`);
    }
    segment.runs.append(from, seq, dueMs, acceptedMs);
    lastFrom = from;
    lastDueMs = dueMs;
  }
  if (runCount === 0) throw new ByteFormatError("a segment without runs");
  const groupIds = version === GROUPED_INDEX_VERSION ? decodeGroups(input, count) : null;
  input.end();
  return { segment, groupIds };
}

function decodeGroups(input: ByteReader, count: number): string[] {
  const nameCount = input.uint();
  if (nameCount > count) throw new ByteFormatError(`${nameCount} groups of ${count} messages`);
  const names = Array.from({ length: nameCount }, () => input.text());
  return Array.from({ length: count }, (_, i) => {
    const number = input.uint();
    const name = names[number];
    if (name === undefined) throw new ByteFormatError(`message ${i} is in group ${number} of ${nameCount}`);
    return name;
  });
}

function decodeState(segment: Segment, bytes: Uint8Array): Entry[] {
  const input = new ByteReader(bytes);
  expectVersion(input.uint(), [STATE_VERSION], "segment state");
  segment.cursor = input.uint();
  if (segment.cursor > segment.count)
    throw new ByteFormatError(`cursor ${segment.cursor} of ${segment.count}`);
  const entries: Entry[] = [];
  const entryCount = input.uint();
  let end = 0;
  for (let e = 0; e < entryCount; e++) {
    const [from, to, attempts, stored] = [input.uint(), input.uint(), input.uint(), input.uint()];
    const wasReceived = stored >= WAS_RECEIVED;
    const kind = wasReceived ? stored - WAS_RECEIVED : stored;
    if (from < end || to <= from || to > segment.cursor || kind > LEASE_KINDS.length) {
      throw new ByteFormatError(`entry ${e} is [${from}, ${to}) of kind ${kind}`);
    }
    const entry = new Entry(segment, from, to, attempts);
    const leaseKind = LEASE_KINDS[kind - 1];
    if (leaseKind === undefined) {
      entry.state = "delayed";
    } else {
      entry.state = "leased";
      entry.leaseKind = leaseKind;
    }
    entry.atMs = readTime(input);
    entry.leaseId = input.uint();
    if (wasReceived) entry.firstReceivedMs = readTime(input);
    if ((leaseKind !== undefined && attempts === 0) || entry.leaseId > ID_MAX) {
      throw new ByteFormatError(`entry ${e} is on attempt ${attempts} of lease ${entry.leaseId}`);
    }
    entries.push(entry);
    end = to;
  }
  input.end();
  if (segment.cursor === segment.count && entries.length === 0) {
    throw new ByteFormatError("a segment without messages that are left");
  }
  return entries;
}

function readTime(input: ByteReader): number {
  const ms = input.float();
  if (!(ms >= 0 && ms <= TIME_MS_MAX)) throw new ByteFormatError(`${ms} is not a time`);
  return ms;
}

function expectVersion(found: number, readable: readonly number[], what: string): void {
  if (!readable.includes(found)) {
    throw new ByteFormatError(`${what} of version ${found}, this release reads ${readable.join(" and ")}`);
  }
}
