import { type LookedAt, type PackedIndex, TOKEN_LENGTH } from "@sluice/protocol";

/** Message in a fake shard. */
export interface FakeMessage {
  readonly id: string;
  readonly group: string;
  readonly sentMs: number;
  readonly packed: Uint8Array;
  /** Number of the receive that has it; `null` while it waits. */
  lease: number | null;
  receives: number;
}

export function groupAt(index: PackedIndex, i: number): string {
  return index.extension(i).groupId ?? "";
}

export function keyAt(index: PackedIndex, i: number): string | null {
  const dedup = index.extension(i).deduplicationId;
  return dedup === undefined ? null : `${groupAt(index, i)} ${dedup}`;
}

/** Token of a message, of the length of real ones: the end of the id and a lease. */
export function tokenFor(id: string, lease: number): string {
  return `${id.slice(-16)}${String(lease).padStart(TOKEN_LENGTH - 16, "0")}`;
}

export function isToken(text: string): boolean {
  return text.length === TOKEN_LENGTH;
}

export function readToken(text: string): { readonly id: string; readonly lease: number } {
  return { id: text.slice(0, 16).padStart(32, "0"), lease: Number(text.slice(16)) };
}

export function lookedAt(message: FakeMessage): LookedAt {
  return {
    id: message.id,
    ref: tokenFor(message.id, 0),
    state: message.lease === null ? "ready" : "leased",
    attempts: message.receives,
    sentMs: message.sentMs,
    atMs: message.sentMs,
    keptUntilMs: message.sentMs,
    contentType: "text",
    bodyBytes: 0,
    body: new Uint8Array(),
    group: message.group,
    attributes: null,
    from: null,
    why: { reason: "dueNow", text: "", untilMs: null, by: null },
  };
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
