import type { Receipt } from "@sluice/engine";
import { TOKEN_LENGTH } from "@sluice/protocol";
import { checksumOf } from "../store/checksum.ts";

/*
 * A token names a message, or one delivery of it, to a client: three numbers and a checksum in base64url. It is opaque
 * for the client, and invalid on another queue. It is no secret: a client that may call the queue may pull messages.
 *
 * A contract, since clients keep tokens over restarts and deployments. The first byte is the kind of the token.
 */

/**
 * Kind of a token.
 *
 * - `lease`: one delivery of a message, as a pull hands it out.
 * - `ref`: a message, leased or not; the lease id is 0.
 */
export type TokenKind = "lease" | "ref";

const FIRST_BYTES: Readonly<Record<TokenKind, number>> = { lease: 1, ref: 2 };
const OFFSET_LEASE = 1;
const OFFSET_SEGMENT = 9;
const OFFSET_INDEX = 17;
const OFFSET_CHECK = 21;
const TOKEN_BYTES = 25;

/** Characters of base64url by their six bits, and the reverse. */
const CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CODES = Uint8Array.from(CHARACTERS, (character) => character.charCodeAt(0));
const SIX_BITS_MAX = 0x3f;
const NO_BITS = 0xff;
const SIX_BITS = new Uint8Array(256).fill(NO_BITS);
for (const [bits, code] of CODES.entries()) SIX_BITS[code] = bits;

/** Buffer of the token in work, used for all of them: encoding and decoding are synchronous. */
const token = new DataView(new ArrayBuffer(TOKEN_BYTES));
const tokenBytes = new Uint8Array(token.buffer);
/** Characters that are read, in a copy: V8 takes several times as long to look at the units of a text one by one. */
const read = new Uint8Array(TOKEN_LENGTH);
/** Characters that are written, made into a text at once: adding them one by one took three times as long. */
const written = Array<number>(TOKEN_LENGTH).fill(0);
const encoder = new TextEncoder();

/** Groups of three bytes and four characters. The last byte, after them, is two characters. */
const GROUPS = Math.floor(TOKEN_BYTES / 3);

export function encodeToken(queue: string, kind: TokenKind, { leaseId, segmentId, index }: Receipt): string {
  token.setUint8(0, FIRST_BYTES[kind]);
  token.setFloat64(OFFSET_LEASE, leaseId);
  token.setFloat64(OFFSET_SEGMENT, segmentId);
  token.setUint32(OFFSET_INDEX, index);
  token.setUint32(OFFSET_CHECK, checkOf(queue));
  for (let group = 0; group < GROUPS; group++) {
    const at = 3 * group;
    const bits = (byteAt(at) << 16) | (byteAt(at + 1) << 8) | byteAt(at + 2);
    write(4 * group, bits >> 18);
    write(4 * group + 1, bits >> 12);
    write(4 * group + 2, bits >> 6);
    write(4 * group + 3, bits);
  }
  const last = byteAt(TOKEN_BYTES - 1);
  write(TOKEN_LENGTH - 2, last >> 2);
  write(TOKEN_LENGTH - 1, last << 4);
  return String.fromCharCode.apply(null, written);
}

function byteAt(at: number): number {
  return tokenBytes[at] as number; // of a token's length
}

function write(at: number, bits: number): void {
  written[at] = CODES[bits & 63] as number; // one for every six bits
}

/** Reads a token; `null` for a text that is no token of this kind and queue. */
export function decodeToken(queue: string, kind: TokenKind, text: string): Receipt | null {
  if (text.length !== TOKEN_LENGTH || !readCharacters(text)) return null;
  if (tokenBytes[0] !== FIRST_BYTES[kind] || token.getUint32(OFFSET_CHECK) !== checkOf(queue)) return null;
  const leaseId = token.getFloat64(OFFSET_LEASE);
  const segmentId = token.getFloat64(OFFSET_SEGMENT);
  if (!Number.isSafeInteger(leaseId) || !Number.isSafeInteger(segmentId)) return null;
  return { leaseId, segmentId, index: token.getUint32(OFFSET_INDEX) };
}

/** Reads the bytes of a token from its characters. @returns false if one is not of base64url. */
function readCharacters(text: string): boolean {
  // Characters beyond ASCII take more bytes, so that the last ones have no room.
  if (encoder.encodeInto(text, read).read !== TOKEN_LENGTH) return false;
  let all = 0;
  for (let group = 0; group < GROUPS; group++) {
    const at = 4 * group;
    const first = sixBitsAt(at);
    const second = sixBitsAt(at + 1);
    const third = sixBitsAt(at + 2);
    const fourth = sixBitsAt(at + 3);
    all |= first | second | third | fourth;
    tokenBytes[3 * group] = (first << 2) | (second >> 4);
    tokenBytes[3 * group + 1] = (second << 4) | (third >> 2);
    tokenBytes[3 * group + 2] = (third << 6) | fourth;
  }
  const first = sixBitsAt(TOKEN_LENGTH - 2);
  const second = sixBitsAt(TOKEN_LENGTH - 1);
  tokenBytes[TOKEN_BYTES - 1] = (first << 2) | (second >> 4);
  return (all | first | second) <= SIX_BITS_MAX;
}

function sixBitsAt(at: number): number {
  return SIX_BITS[read[at] as number] as number; // of a token's length; one for every byte
}

/** Input of the checksum of a queue's tokens: the content of a token, followed by the queue's name. */
interface Checked {
  readonly queue: string;
  readonly view: DataView;
}

/** Checksum input of the latest queue, since an object has but one. */
let checked: Checked | undefined;

function checkOf(queue: string): number {
  if (checked?.queue !== queue) checked = { queue, view: viewFor(queue) };
  const { view } = checked;
  for (let at = 0; at < OFFSET_CHECK; at++) view.setUint8(at, tokenBytes[at] as number); // at < length
  return checksumOf(view, 0, view.byteLength);
}

function viewFor(queue: string): DataView {
  const name = new TextEncoder().encode(queue);
  const bytes = new Uint8Array(OFFSET_CHECK + name.byteLength);
  bytes.set(name, OFFSET_CHECK);
  return new DataView(bytes.buffer);
}
