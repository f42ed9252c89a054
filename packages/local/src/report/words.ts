import { span } from "@sluice/protocol/words";

/** Formats how far a moment is from `now`: `3 min ago`, `in 5 s`, `now` below half a second. Both are ISO 8601. */
export function distance(iso: string, now: string): string {
  const ms = Date.parse(iso) - Date.parse(now);
  if (Math.abs(ms) < 500) return "now";
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}
