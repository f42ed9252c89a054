/** Beginning of an alert. A contract: it is stored as JSON. Only optional members may be added. */
export interface Begun {
  /** Since when its condition holds, in ms since 1970. */
  readonly sinceMs: number;
  /** Why it began. */
  readonly text: string;
}

/** State of one alert of an object. A contract: it is stored as JSON. Only optional members may be added. */
export interface AlertState {
  /** Beginning of the condition in this object; `null` while it does not hold here. */
  readonly on: Begun | null;
  /**
   * Beginning that was reported to the webhook, or by another shard to shard 0; `null` for none, or if its end was
   * reported since.
   */
  readonly told: Begun | null;
  /** When the alert of `told` ended, in ms since 1970, while its end is not reported; absent while it is on. */
  readonly endedMs?: number;
}

/** State of an alert that never began. */
export const NO_ALERT: AlertState = { on: null, told: null };

/** Beginning or end of an alert that is reported to the webhook, or to shard 0. Times in ms since 1970. */
export type AlertChange =
  | { readonly what: "begun"; readonly of: Begun }
  | { readonly what: "ended"; readonly of: Begun; readonly endedMs: number };

/** Step of an alert: its next state, and the changes to report, in order. */
export interface AlertStep {
  readonly state: AlertState;
  readonly changes: readonly AlertChange[];
}

/** Other shards of a queue; `null` for a queue that has none. */
export interface Elsewhere {
  /** First beginning of an alert in them; `null` if it is on in none. The alert ends when it is on nowhere. */
  readonly first: Begun | null;
}

/**
 * Steps an alert by whether its condition holds. Beginnings and ends are reported by turns. While the alert is silenced
 * nothing is; afterwards the end of the reported beginning is, if it has ended, and a beginning that is on then.
 *
 * @param text why the condition holds; `null` if it does not.
 */
export function stepAlert(
  before: AlertState,
  text: string | null,
  nowMs: number,
  isSilenced: boolean,
  elsewhere: Elsewhere | null = null,
): AlertStep {
  const on = text === null ? null : (before.on ?? { sinceMs: nowMs, text });
  const first = firstAnywhere(on, elsewhere);
  const { told } = before;
  // With shards the reported beginning may have ended in its shard, while the alert goes on in another one.
  const endedMs = told === null ? undefined : (before.endedMs ?? (first === null ? nowMs : undefined));
  const state = { on, told, ...(endedMs === undefined ? {} : { endedMs }) };
  const changes = isSilenced ? [] : unreported(state, elsewhere);
  return { state: changes.length === 0 ? state : { on, told: first }, changes };
}

/** Whether a change is to be reported as soon as the alert is not silenced any more. */
export function hasUnreported(state: AlertState, elsewhere: Elsewhere | null = null): boolean {
  return unreported(state, elsewhere).length > 0;
}

function unreported({ on, told, endedMs }: AlertState, elsewhere: Elsewhere | null): readonly AlertChange[] {
  const first = firstAnywhere(on, elsewhere);
  const changes: AlertChange[] = [];
  if (told !== null && endedMs !== undefined) changes.push({ what: "ended", of: told, endedMs });
  if (first !== null && (told === null || endedMs !== undefined)) changes.push({ what: "begun", of: first });
  return changes;
}

/** First beginning of an alert in all shards; `null` if it is on in none. */
export function firstAnywhere(on: Begun | null, elsewhere: Elsewhere | null): Begun | null {
  return firstOf(on, elsewhere?.first ?? null);
}

/** The earlier one of two beginnings; `null` if there is none. */
export function firstOf(a: Begun | null, b: Begun | null): Begun | null {
  if (a === null || b === null) return a ?? b;
  return b.sinceMs < a.sinceMs ? b : a;
}

export function sameState(a: AlertState, b: AlertState): boolean {
  return a.on?.sinceMs === b.on?.sinceMs && a.told?.sinceMs === b.told?.sinceMs && a.endedMs === b.endedMs;
}
