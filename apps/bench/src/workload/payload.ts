/** Body of every message: JSON of exactly `PAYLOAD_BYTES` bytes. */
export interface Payload {
  /** Time of the send in ms since 1970, as text of a fixed length with three decimals. */
  readonly sentMs: string;
  readonly text: string;
}

export const PAYLOAD_BYTES = 200;

const TEXT = "x".repeat(PAYLOAD_BYTES - JSON.stringify({ sentMs: timeText(0), text: "" }).length);

export function payload(nowMs: number): Payload {
  return { sentMs: timeText(nowMs), text: TEXT };
}

function timeText(ms: number): string {
  return ms.toFixed(3).padStart(17, "0");
}
