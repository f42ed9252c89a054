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
   * Beginning that the webhook was told of, or shard 0 by another shard; `null` where it was told of none, or of the end
   * since.
   */
  readonly told: Begun | null;
  /** When the alert that was told ended, in ms since 1970, while its end is untold; absent while it is on. */
  readonly endedMs?: number;
}

/** State of an alert that never was. */
export const NO_ALERT: AlertState = { on: null, told: null };

/** Report to the webhook, or to shard 0: an alert has begun, or ended at a time in ms since 1970. */
export type Tells =
  | { readonly what: "begun"; readonly of: Begun }
  | { readonly what: "ended"; readonly of: Begun; readonly endedMs: number };

/** Step of an alert: its next state, and what is told in which order. */
export interface AlertStep {
  readonly state: AlertState;
  readonly tells: readonly Tells[];
}

/** Other shards of a queue; `null` for a queue that has none. */
export interface Elsewhere {
  /** First beginning of an alert in them; `null` if it is on in none. The alert ends when it is on nowhere. */
  readonly first: Begun | null;
}

/**
 * Takes whether the condition of an alert holds. The webhook is told of beginnings and ends by turns. While the alert is
 * silenced it is told nothing; afterwards of the end of what it knew, and of what is on then.
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
  // With shards the beginning that was told may have ended where it was, while the alert goes on in another one.
  const endedMs = told === null ? undefined : (before.endedMs ?? (first === null ? nowMs : undefined));
  const state = { on, told, ...(endedMs === undefined ? {} : { endedMs }) };
  const tells = isSilenced ? [] : untold(state, elsewhere);
  return { state: tells.length === 0 ? state : { on, told: first }, tells };
}

/** Whether the webhook is to be told something as soon as the alert is not silenced any more. */
export function isUntold(state: AlertState, elsewhere: Elsewhere | null = null): boolean {
  return untold(state, elsewhere).length > 0;
}

function untold({ on, told, endedMs }: AlertState, elsewhere: Elsewhere | null): readonly Tells[] {
  const first = firstAnywhere(on, elsewhere);
  const tells: Tells[] = [];
  if (told !== null && endedMs !== undefined) tells.push({ what: "ended", of: told, endedMs });
  if (first !== null && (told === null || endedMs !== undefined)) tells.push({ what: "begun", of: first });
  return tells;
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
