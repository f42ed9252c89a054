/** State of one alert of a queue. A contract: it is stored as JSON. Only optional members may be added. */
export interface AlertState {
  /** Since when its condition holds, in ms since 1970, and why it began; `null` while it does not hold. */
  readonly on: { readonly sinceMs: number; readonly text: string } | null;
  /** Beginning that the webhook was told of; `null` where it was told of none, or of the end since. */
  readonly told: { readonly sinceMs: number; readonly text: string } | null;
}

/** State of an alert that never was. */
export const NO_ALERT: AlertState = { on: null, told: null };

/** Step of an alert: its next state, and what the webhook is told. */
export interface AlertStep {
  readonly state: AlertState;
  readonly tells: "begun" | "ended" | null;
}

/**
 * Takes whether the condition of an alert holds. The webhook is told of beginnings and ends by turns. While the alert is
 * silenced it is told nothing; afterwards of the end of what it knew, or of what is on then.
 *
 * @param text why the condition holds; `null` if it does not.
 */
export function stepAlert(
  { on: before, told }: AlertState,
  text: string | null,
  nowMs: number,
  isSilenced: boolean,
): AlertStep {
  const on = text === null ? null : (before ?? { sinceMs: nowMs, text });
  if (isSilenced || (on === null) === (told === null)) return { state: { on, told }, tells: null };
  return { state: { on, told: on }, tells: on === null ? "ended" : "begun" };
}

/** Whether the webhook is to be told something as soon as the alert is not silenced any more. */
export function isUntold({ on, told }: AlertState): boolean {
  return (on === null) !== (told === null);
}

export function sameState(a: AlertState, b: AlertState): boolean {
  return a.on?.sinceMs === b.on?.sinceMs && a.told?.sinceMs === b.told?.sinceMs;
}
