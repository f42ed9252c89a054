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
}

/** State of an alert that never was. */
export const NO_ALERT: AlertState = { on: null, told: null };

/** Step of an alert: its next state, and what is told. */
export interface AlertStep {
  readonly state: AlertState;
  readonly tells: "begun" | "ended" | null;
}

/**
 * Takes whether the condition of an alert holds. The webhook is told of beginnings and ends by turns. While the alert is
 * silenced it is told nothing; afterwards of the end of what it knew, or of what is on then.
 *
 * @param text why the condition holds; `null` if it does not.
 * @param elsewhere its first beginning in other shards of the queue; `null` if it is on in none. The alert ends when it
 *   is on nowhere.
 */
export function stepAlert(
  { on: before, told }: AlertState,
  text: string | null,
  nowMs: number,
  isSilenced: boolean,
  elsewhere: Begun | null = null,
): AlertStep {
  const on = text === null ? null : (before ?? { sinceMs: nowMs, text });
  const first = firstOf(on, elsewhere);
  if (isSilenced || (first === null) === (told === null)) return { state: { on, told }, tells: null };
  return { state: { on, told: first }, tells: first === null ? "ended" : "begun" };
}

/** Whether the webhook is to be told something as soon as the alert is not silenced any more. */
export function isUntold({ on, told }: AlertState, elsewhere: Begun | null = null): boolean {
  return (firstOf(on, elsewhere) === null) !== (told === null);
}

/** The earlier one of two beginnings; `null` if there is none. */
export function firstOf(a: Begun | null, b: Begun | null): Begun | null {
  if (a === null || b === null) return a ?? b;
  return b.sinceMs < a.sinceMs ? b : a;
}

export function sameState(a: AlertState, b: AlertState): boolean {
  return a.on?.sinceMs === b.on?.sinceMs && a.told?.sinceMs === b.told?.sinceMs;
}
