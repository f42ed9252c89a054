import { ByteFormatError, ByteReader, ByteWriter } from "./bytes.ts";
import { Entry, type LeaseKind } from "./entry.ts";
import type { Queue } from "./queue.ts";
import { Segment } from "./segment.ts";
import { advanceSegment } from "./send.ts";

/*
 * Both formats are contracts: they are stored. Each begins with its version; a change needs a new version and a reader
 * for the old one.
 */
const INDEX_VERSION = 1;
const STATE_VERSION = 1;

/** Largest sequence number and lease id that is believed: the next ones must stay exact integers. */
const NUMBER_MAX = 2 ** 52 - 1;
/** The last moment that a `Date` can name, in ms since 1970. */
const TIME_MS_MAX = 8.64e15;

const LEASE_KINDS: readonly LeaseKind[] = ["push", "pull"];
const KIND_WAITING = 0;

/** What never changes about a segment's messages but for appending: sizes, due times, sequence numbers. */
export function encodeIndex(segment: Segment): Uint8Array {
  const out = new ByteWriter();
  const { runs } = segment;
  out.uint(INDEX_VERSION);
  out.uint(segment.count);
  for (const size of segment.sizes) out.uint(size);
  out.uint(runs.length);
  for (let r = 0; r < runs.length; r++) {
    out.uint(runs.from(r));
    out.uint(runs.seq(r));
    out.float(runs.dueMs(r));
    out.float(runs.acceptedMs(r));
  }
  return out.finish();
}

/** What happened to a segment's messages; `null` when none was ever touched. */
export function encodeState(segment: Segment): Uint8Array | null {
  if (segment.cursor === 0 && segment.entries.length === 0) return null;
  const out = new ByteWriter();
  out.uint(STATE_VERSION);
  out.uint(segment.cursor);
  out.uint(segment.entries.length);
  for (const entry of segment.entries) {
    out.uint(entry.from);
    out.uint(entry.to);
    out.uint(entry.attempts);
    out.uint(entry.state === "leased" ? 1 + LEASE_KINDS.indexOf(entry.leaseKind) : KIND_WAITING);
    out.float(entry.atMs);
    out.uint(entry.leaseId);
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
  const segment = decodeIndex(id, index);
  const entries = state === null ? [] : decodeState(segment, state);
  for (const entry of entries) {
    segment.entries.push(entry);
    const bytes = segment.bytes(entry.from, entry.to);
    if (entry.state === "leased") {
      queue.leased.push(entry);
      queue.leasedCount += entry.count;
      queue.nextLeaseId = Math.max(queue.nextLeaseId, entry.leaseId + 1);
    } else {
      queue.delayed.push(entry);
      queue.delayedCount += entry.count;
      queue.waitingBytes += bytes;
    }
  }
  segment.remaining = segment.count - segment.cursor + entries.reduce((sum, entry) => sum + entry.count, 0);
  segment.readyEnd = segment.cursor;
  queue.segments.set(id, segment);
  queue.delayedCount += segment.count - segment.cursor;
  queue.waitingBytes += segment.bytes(segment.cursor, segment.count);
  queue.nextSegmentId = Math.max(queue.nextSegmentId, id + 1);
  const lastRun = segment.runs.length - 1;
  const lastSeq = segment.runs.seq(lastRun) + (segment.count - 1 - segment.runs.from(lastRun));
  for (let r = 0; r < lastRun; r++) {
    const end = segment.runs.from(r + 1) - segment.runs.from(r);
    queue.nextSeq = Math.max(queue.nextSeq, segment.runs.seq(r) + end);
  }
  queue.nextSeq = Math.max(queue.nextSeq, lastSeq + 1);
  advanceSegment(queue, segment, nowMs);
}

function decodeIndex(id: number, bytes: Uint8Array): Segment {
  const input = new ByteReader(bytes);
  expectVersion(input.uint(), INDEX_VERSION, "segment index");
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
    if (
      from <= lastFrom ||
      from >= count ||
      (r === 0 && from !== 0) ||
      dueMs < lastDueMs ||
      seq > NUMBER_MAX
    ) {
      throw new ByteFormatError(`run ${r} from ${from}, number ${seq}, due ${dueMs}`);
    }
    segment.runs.append(from, seq, dueMs, acceptedMs);
    lastFrom = from;
    lastDueMs = dueMs;
  }
  if (runCount === 0) throw new ByteFormatError("a segment without runs");
  input.end();
  return segment;
}

function decodeState(segment: Segment, bytes: Uint8Array): Entry[] {
  const input = new ByteReader(bytes);
  expectVersion(input.uint(), STATE_VERSION, "segment state");
  segment.cursor = input.uint();
  if (segment.cursor > segment.count)
    throw new ByteFormatError(`cursor ${segment.cursor} of ${segment.count}`);
  const entries: Entry[] = [];
  const entryCount = input.uint();
  let end = 0;
  for (let e = 0; e < entryCount; e++) {
    const [from, to, attempts, kind] = [input.uint(), input.uint(), input.uint(), input.uint()];
    if (from < end || to <= from || to > segment.cursor || kind > LEASE_KINDS.length) {
      throw new ByteFormatError(`entry ${e} is [${from}, ${to}) of kind ${kind}`);
    }
    const entry = new Entry(segment, from, to, attempts);
    const leaseKind = LEASE_KINDS[kind - 1];
    entry.state = leaseKind === undefined ? "delayed" : "leased";
    entry.leaseKind = leaseKind ?? "push";
    entry.atMs = readTime(input);
    entry.leaseId = input.uint();
    if ((leaseKind !== undefined && attempts === 0) || entry.leaseId > NUMBER_MAX) {
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

function expectVersion(found: number, expected: number, what: string): void {
  if (found !== expected)
    throw new ByteFormatError(`${what} of version ${found}, this release reads ${expected}`);
}
