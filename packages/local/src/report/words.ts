import { span } from "@sluice/protocol/words";

/** How far a moment is from `now`: `3 min ago`, `in 5 s`. Both ISO 8601. */
export function distance(iso: string, now: string): string {
  const ms = Date.parse(iso) - Date.parse(now);
  if (Math.abs(ms) < 500) return "now";
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}

/**
 * Characters that move a terminal's cursor, change its colours or its title, turn the direction of a text or have no
 * width. Line ends and tabs stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}]/gu;

/** A text of somebody else's as a terminal may show it: a message may not do there what it likes. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16);
    return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, "0")}`;
  });
}
