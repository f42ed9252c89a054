/** Stack traces of handlers, as they are stored and shown. */

/** Beginning of the places of our own files in a stack trace. */
export const OWN_SCHEME = "sluice:";

/** Line of the text of an error. */
export interface StackLine {
  readonly text: string;
  /** `text`: a message. `user`: a frame of the user's code. `own`: a frame of Sluice or of the runtime. */
  readonly kind: "text" | "user" | "own";
  /** File, row and column of a frame: `src/payment.ts:15:36`; `null` where it names none. */
  readonly place: string | null;
}

const FRAME = /^\s+at /;
const FRAME_PLACE = /^\s+at (?:[^(]+ \()?(?:async )?(.+:\d+:\d+)\)?$/;
const OWN_PLACE = /^(?:sluice|node|cloudflare|cloudflare-internal|workerd):/;

/** Reads the text of an error, with its stack and causes, line by line. */
export function stackLines(error: string): StackLine[] {
  return error.split("\n").map((text) => {
    if (!FRAME.test(text)) return { text, kind: "text", place: null };
    const place = FRAME_PLACE.exec(text)?.[1] ?? null;
    return { text, kind: place !== null && OWN_PLACE.test(place) ? "own" : "user", place };
  });
}

/** Finds the first place of an error in a file of the user's own; `null` for none. */
export function userPlace(error: string): string | null {
  const found = stackLines(error).find(
    ({ kind, place }) => kind === "user" && place !== null && !place.includes("node_modules/"),
  );
  return found?.place ?? null;
}

/** Finds the place of an error in a source of the user's: none where its frames name a bundle by its URL. */
export function sourcePlace(error: string): string | null {
  const place = userPlace(error);
  return place?.includes("://") ? null : place;
}

/** Makes one line of an error: its first, with its place in the user's sources behind it where it has one. */
export function errorLine(error: string): string {
  const [line = ""] = error.split("\n", 1);
  return withPlace(line, error);
}

/** Adds to a line about an error the place that its stack has in the user's sources. */
export function withPlace(line: string, stack: string): string {
  const place = sourcePlace(stack);
  return place === null ? line : `${line} (${place})`;
}

/**
 * Frame of one of our functions that call a user's handler. Frames from there on are ours; in a bundle of all code
 * nothing else distinguishes them.
 */
const HANDLER_FRAME = /^\s+at (?:async )?(?:\w+\.)?sluiceHandler/;

/** Longest line that is read as a frame, in UTF-16 units. */
const FRAME_UNITS_MAX = 1_000;
const CUT = "…";

/**
 * Makes a text that may have stack traces fit: without the frames of Sluice and of the runtime, unless there are no
 * others, and then cut, so that frames keep at least half of the room. A frame is there as a whole or not at all.
 *
 * @param unitsMax most UTF-16 units of the result.
 */
export function fittedStack(text: string, unitsMax: number): string {
  const lines = text.split("\n");
  const kinds = kindsOf(lines);
  const kept = kinds.includes("user") ? lines.filter((_, i) => kinds[i] !== "own") : lines;
  const whole = kept.join("\n");
  if (whole.length <= unitsMax) return whole;
  const first = kept.findIndex((line) => isFrame(line));
  if (first <= 0) return cut(whole, unitsMax);
  const head = kept.slice(0, first).join("\n");
  const room = Math.min(whole.length - head.length, Math.floor(unitsMax / 2));
  let fitted = cut(head, unitsMax - room);
  for (const [i, line] of kept.slice(first).entries()) {
    const end = first + i === kept.length - 1 ? 0 : `\n${CUT}`.length;
    if (fitted.length + line.length + 1 + end > unitsMax) return `${fitted}\n${CUT}`;
    fitted += `\n${line}`;
  }
  return fitted;
}

function kindsOf(lines: readonly string[]): StackLine["kind"][] {
  let isBelowHandler = false;
  return lines.map((line) => {
    if (!isFrame(line)) {
      isBelowHandler = false;
      return "text";
    }
    isBelowHandler ||= HANDLER_FRAME.test(line);
    return isBelowHandler || stackLines(line)[0]?.kind === "own" ? "own" : "user";
  });
}

function isFrame(line: string): boolean {
  return line.length <= FRAME_UNITS_MAX && FRAME.test(line);
}

function cut(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, Math.max(0, unitsMax - CUT.length))}${CUT}`;
}
