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
