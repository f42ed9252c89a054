import { ALERT_KINDS, type AlertKind } from "@sluice/protocol";
import { decodeChecked, encodeChecked } from "../store/checked-json.ts";
import { type AlertState, type Begun, NO_ALERT } from "./alert-state.ts";

/** Key of the note with the alerts of a queue. A contract: stored data depends on it and on the JSON behind it. */
export const ALERTS_NOTE = "alerts";

/** Alerts of a queue, as they are stored. A contract: only optional members may be added. */
export interface StoredAlerts {
  readonly states: Readonly<Record<AlertKind, AlertState>>;
  /** Since when nothing was delivered although messages were due, in ms since 1970; `null` where that is not noted. */
  readonly stillSinceMs: number | null;
  /** Alerts that are on in other shards, by the numbers of the shards. Shard 0 alone has it. */
  readonly shards?: Readonly<Record<string, ShardAlerts>>;
}

/** Alerts that are on in a shard. A contract: only optional members may be added. */
export type ShardAlerts = Readonly<Partial<Record<AlertKind, Begun>>>;

export const NO_ALERTS: StoredAlerts = {
  states: { dead_letters: NO_ALERT, oldest_message: NO_ALERT, failures: NO_ALERT, stalled: NO_ALERT },
  stillSinceMs: null,
};

/** Encodes a note; `null` where there is nothing to note. */
export function encodeAlerts(alerts: StoredAlerts): Uint8Array | null {
  const isNothing = ALERT_KINDS.every((kind) => {
    const { on, told } = alerts.states[kind];
    return on === null && told === null;
  });
  if (isNothing && alerts.stillSinceMs === null && alerts.shards === undefined) return null;
  return encodeChecked(alerts);
}

/** Decodes a note. Throws for a damaged one. */
export function decodeAlerts(bytes: Uint8Array): StoredAlerts {
  const stored = decodeChecked(bytes) as StoredAlerts;
  return { ...stored, states: { ...NO_ALERTS.states, ...stored.states } };
}
