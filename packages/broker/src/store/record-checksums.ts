import { makeUnreadable, RECORD_HEADER_BYTES, recordEnd } from "@sluice/protocol";
import { checksumOf } from "./checksum.ts";

/*
 * Checksums of packed bytes. SQLite has none, and bytes that were damaged on the disk must not be delivered. A
 * contract, since they are stored, in columns called `seal`. Little endian, for each record
 *
 * | u32 | length of the record in bytes |
 * | u32 | its checksum |
 *
 * and at the end one u32, the checksum of all of these. The lengths keep a record with a damaged length from making
 * those after it unreadable.
 */
const BYTES_PER_RECORD = 8;
const OWN_CHECKSUM_BYTES = 4;

/** Checksums of no bytes. Their own checksum is never read. */
const NO_CHECKSUMS = new Uint8Array(OWN_CHECKSUM_BYTES);

/** Error for packed bytes that are damaged beyond their single records. */
export class DamagedChecksumsError extends Error {
  override readonly name = "DamagedChecksumsError";
}

/**
 * Computes the checksums of packed bytes. Trailing bytes that are no record have one like a record.
 *
 * @param earlier Checksums of the same bytes before more were appended, which are not computed again. Single messages
 *   append to one segment again and again.
 */
export function checksumsOf(packed: Uint8Array, earlier: Uint8Array = NO_CHECKSUMS): Uint8Array {
  const view = viewOf(packed);
  const known = earlier.byteLength - OWN_CHECKSUM_BYTES;
  const words: number[] = [];
  for (let from = totalOf(viewOf(earlier), known); from < packed.byteLength; ) {
    const to = recordEnd(view, from) ?? packed.byteLength;
    words.push(to - from, checksumOf(view, from, to));
    from = to;
  }
  const stored = new Uint8Array(known + 4 * words.length + OWN_CHECKSUM_BYTES);
  stored.set(earlier.subarray(0, known));
  const sums = viewOf(stored);
  for (let i = 0; i < words.length; i++) sums.setUint32(known + 4 * i, words[i] as number, true); // i < length
  const end = stored.byteLength - OWN_CHECKSUM_BYTES;
  sums.setUint32(end, checksumOf(sums, 0, end), true);
  return stored;
}

/**
 * Verifies packed bytes, and makes each damaged record unreadable (`isReadable`).
 *
 * @throws DamagedChecksumsError when the checksums are damaged themselves, or a damaged range is no record.
 */
export function verified(stored: Uint8Array, checksums: Uint8Array): Uint8Array {
  const sums = viewOf(checksums);
  const sumsEnd = checksums.byteLength - OWN_CHECKSUM_BYTES;
  if (
    sumsEnd < 0 ||
    sumsEnd % BYTES_PER_RECORD !== 0 ||
    sums.getUint32(sumsEnd, true) !== checksumOf(sums, 0, sumsEnd)
  ) {
    throw new DamagedChecksumsError(`the checksums of ${stored.byteLength} bytes are damaged themselves`);
  }
  const packed = ofLength(stored, totalOf(sums, sumsEnd));
  const view = viewOf(packed);
  let from = 0;
  for (let at = 0; at < sumsEnd; at += BYTES_PER_RECORD) {
    const to = from + sums.getUint32(at, true);
    if (checksumOf(view, from, to) !== sums.getUint32(at + 4, true)) erase(packed, from, to);
    from = to;
  }
  return packed;
}

function erase(packed: Uint8Array, from: number, to: number): void {
  if (to - from < RECORD_HEADER_BYTES) throw new DamagedChecksumsError(`${to - from} bytes are damaged`);
  makeUnreadable(packed, from, to);
}

function totalOf(sums: DataView, sumsEnd: number): number {
  let total = 0;
  for (let at = 0; at < sumsEnd; at += BYTES_PER_RECORD) total += sums.getUint32(at, true);
  return total;
}

/** Cuts bytes off, or appends zeros, which are no record. */
function ofLength(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.byteLength === length) return bytes;
  const fitting = new Uint8Array(length);
  fitting.set(bytes.subarray(0, length));
  return fitting;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Row with packed bytes. */
export type SealedRow = { seal: ArrayBuffer; payload: ArrayBuffer };

/** Reads the packed bytes of a row; damaged records are unreadable. Throws `DamagedChecksumsError`. */
export function verify({ seal, payload }: SealedRow): Uint8Array {
  return verified(new Uint8Array(payload), new Uint8Array(seal));
}

/** Reads the packed bytes of a row; none where their checksums are damaged. */
export function verifyOrNothing(row: SealedRow): Uint8Array {
  try {
    return verify(row);
  } catch (error) {
    if (!(error instanceof DamagedChecksumsError)) throw error;
    return new Uint8Array();
  }
}
