import { span } from "@sluice/protocol/words";

/** Shows a number of seconds. */
export function secondsText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${seconds} s (${span(1_000 * seconds)})`;
}
