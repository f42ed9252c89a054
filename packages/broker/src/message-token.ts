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
const TOKEN_PATTERN = new RegExp(`^[\\w-]{${TOKEN_LENGTH}}$`);

export function encodeToken(queue: string, kind: TokenKind, { leaseId, segmentId, index }: Receipt): string {
  const bytes = new Uint8Array(TOKEN_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = FIRST_BYTES[kind];
  view.setFloat64(OFFSET_LEASE, leaseId);
  view.setFloat64(OFFSET_SEGMENT, segmentId);
  view.setUint32(OFFSET_INDEX, index);
  view.setUint32(OFFSET_CHECK, checkOf(queue, bytes));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Reads a token; `null` for a text that is none of this kind, or one of another queue. */
export function decodeToken(queue: string, kind: TokenKind, token: string): Receipt | null {
  if (!TOKEN_PATTERN.test(token)) return null;
  const text = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  if (bytes[0] !== FIRST_BYTES[kind] || view.getUint32(OFFSET_CHECK) !== checkOf(queue, bytes)) return null;
  const [leaseId, segmentId] = [view.getFloat64(OFFSET_LEASE), view.getFloat64(OFFSET_SEGMENT)];
  if (!Number.isSafeInteger(leaseId) || !Number.isSafeInteger(segmentId)) return null;
  return { leaseId, segmentId, index: view.getUint32(OFFSET_INDEX) };
}

function checkOf(queue: string, token: Uint8Array): number {
  const name = new TextEncoder().encode(queue);
  const bytes = new Uint8Array(OFFSET_CHECK + name.byteLength);
  bytes.set(token.subarray(0, OFFSET_CHECK));
  bytes.set(name, OFFSET_CHECK);
  return checksumOf(new DataView(bytes.buffer), 0, bytes.byteLength);
}
