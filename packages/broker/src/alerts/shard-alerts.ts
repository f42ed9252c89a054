import { ALERT_KINDS, type AlertKind, type PackedIndex, packMessages } from "@sluice/protocol";
import { type Begun, firstOf } from "./alert-state.ts";
import type { ShardAlerts } from "./stored-alerts.ts";

/** Note of a shard to shard 0 that an alert of it has begun or ended. A contract: an outbox stores it as JSON. */
export interface ShardAlertNote {
  readonly kind: AlertKind;
  /** `null` for an end. */
  readonly on: Begun | null;
}

/** Packs a note as the message that takes it to shard 0. */
export function shardAlertRecord(note: ShardAlertNote, id: string, nowMs: number): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify(note));
  return packMessages([{ id, contentType: "json", timestampMs: nowMs, body }]);
}

/** Reads the notes of a transfer. Kinds that this version does not know are left out. */
export function shardAlertNotes(index: PackedIndex): ShardAlertNote[] {
  const decoder = new TextDecoder();
  return Array.from(
    { length: index.count },
    (_, i) => JSON.parse(decoder.decode(index.body(i))) as ShardAlertNote,
  ).filter(({ kind }) => ALERT_KINDS.includes(kind));
}

/** Alerts that other shards have reported to shard 0. */
export class ShardsAlerts {
  #shards = new Map<number, ShardAlerts>();

  /** Alerts to store; `undefined` for none. */
  get stored(): Readonly<Record<string, ShardAlerts>> | undefined {
    return this.#shards.size === 0 ? undefined : Object.fromEntries(this.#shards);
  }

  /** Takes over what is stored. */
  restore(stored: Readonly<Record<string, ShardAlerts>> = {}): void {
    this.#shards = new Map(Object.entries(stored).map(([shard, alerts]) => [Number(shard), alerts]));
  }

  take(shard: number, notes: readonly ShardAlertNote[]): void {
    for (const { kind, on } of notes) {
      const { [kind]: _, ...others } = this.#shards.get(shard) ?? {};
      const alerts: ShardAlerts = on === null ? others : { ...others, [kind]: on };
      if (Object.keys(alerts).length === 0) this.#shards.delete(shard);
      else this.#shards.set(shard, alerts);
    }
  }

  /** Forgets shards that are gone. @returns whether any of them had alerts. */
  keep(shards: number): boolean {
    if (this.#shards.size === 0) return false;
    const gone = [...this.#shards.keys()].filter((shard) => shard >= shards);
    for (const shard of gone) this.#shards.delete(shard);
    return gone.length > 0;
  }

  /** First beginning of an alert in any of them; `null` where it is on in none. */
  first(kind: AlertKind): Begun | null {
    let first: Begun | null = null;
    for (const alerts of this.#shards.values()) first = firstOf(first, alerts[kind] ?? null);
    return first;
  }
}
