import type { Receipt } from "@sluice/engine";
import { checksumOf } from "./checksum.ts";

/*
 * A token is handed to a client and comes back: three numbers and a checksum in base64url. It is opaque for its holder and
 * of no use on another queue. It is not a secret: who may call the queue at all may pull its messages.
 *
 * A contract: clients hold tokens over restarts and deployments. The first byte says what a token is.
 */

/**
 * - `lease`: one delivery of one message, what a pull gives out.
 * - `ref`: a message, whoever has it; its lease id is 0.
 */
export type TokenKind = "lease" | "ref";

const FIRST_BYTES: Readonly<Record<TokenKind, number>> = { lease: 1, ref: 2 };
const OFFSET_LEASE = 1;
const OFFSET_SEGMENT = 9;
const OFFSET_INDEX = 17;
const OFFSET_CHECK = 21;
const TOKEN_BYTES = 25;
/** Characters of a token: base64 without padding. */
export const TOKEN_LENGTH = Math.ceil((TOKEN_BYTES * 4) / 3);

/** Characters of base64url by the six bits that they stand for, and the other way round. */
const CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CODES = Uint8Array.from(CHARACTERS, (character) => character.charCodeAt(0));
const NO_BITS = 0xff;
const SIX_BITS = new Uint8Array(256).fill(NO_BITS);
for (const [bits, code] of CODES.entries()) SIX_BITS[code] = bits;

/** A token on its way in or out. Used again and again: between its writing and its reading nothing else can happen. */
const token = new DataView(new ArrayBuffer(TOKEN_BYTES));
const tokenBytes = new Uint8Array(token.buffer);
/** Its characters. Made into a text at once: to add them to it one by one took three times as long. */
const codes = Array<number>(TOKEN_LENGTH).fill(0);

export function encodeToken(queue: string, kind: TokenKind, { leaseId, segmentId, index }: Receipt): string {
  token.setUint8(0, FIRST_BYTES[kind]);
  token.setFloat64(OFFSET_LEASE, leaseId);
  token.setFloat64(OFFSET_SEGMENT, segmentId);
  token.setUint32(OFFSET_INDEX, index);
  token.setUint32(OFFSET_CHECK, checkOf(queue));
  let bits = 0;
  let kept = 0;
  let length = 0;
  for (let at = 0; at < TOKEN_BYTES; at++) {
    bits = (bits << 8) | (tokenBytes[at] as number); // at < length
    for (kept += 8; kept >= 6; kept -= 6) codes[length++] = codeOf(bits >> (kept - 6));
    bits &= 63;
  }
  codes[length] = codeOf(bits << (6 - kept));
  return String.fromCharCode.apply(null, codes);
}

function codeOf(bits: number): number {
  return CODES[bits & 63] as number; // one for every six bits
}

/** Reads a token; `null` for a text that is none of this kind, or one of another queue. */
export function decodeToken(queue: string, kind: TokenKind, text: string): Receipt | null {
  if (text.length !== TOKEN_LENGTH) return null;
  let bits = 0;
  let kept = 0;
  let at = 0;
  for (let i = 0; i < TOKEN_LENGTH; i++) {
    const six = SIX_BITS[text.charCodeAt(i)] ?? NO_BITS;
    if (six === NO_BITS) return null;
    bits = ((bits << 6) | six) & 0xffff;
    kept += 6;
    if (kept < 8) continue;
    kept -= 8;
    tokenBytes[at] = bits >> kept;
    at += 1;
  }
  if (tokenBytes[0] !== FIRST_BYTES[kind] || token.getUint32(OFFSET_CHECK) !== checkOf(queue)) return null;
  const [leaseId, segmentId] = [token.getFloat64(OFFSET_LEASE), token.getFloat64(OFFSET_SEGMENT)];
  if (!Number.isSafeInteger(leaseId) || !Number.isSafeInteger(segmentId)) return null;
  return { leaseId, segmentId, index: token.getUint32(OFFSET_INDEX) };
}

/** What the checksum of a queue's tokens is of: what a token says, and behind it the queue's name. */
interface Checked {
  readonly queue: string;
  readonly view: DataView;
}

/** Of the queue that was asked for last: an object has but one. */
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
