import { posix, win32 } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isBelow } from "@sluice/project/folders";
import { type StackLine, stackLines } from "@sluice/protocol/stack";
import { fileOf } from "./file-of.ts";
import { frameOf } from "./named-stack.ts";

const FRAME = /^\s+at /;
/** End of the last frame of an error that has a cause or other properties. */
const OPENING = " {";
/** Longest part that is read as a frame, in UTF-16 units: anything may be in a message. */
const FRAME_UNITS_MAX = 10_000;

/**
 * Leaves our own part of a stack trace, and that of the runtime, out for the terminal. One that has no other is about us, and is shown as it is.
 *
 * @param ownSources folders of our own sources. Absolute.
 * @param windows whether paths are those of Windows. Default: where this runs there.
 */
export function withoutOwnFrames(
  message: string,
  ownSources: readonly string[],
  windows = process.platform === "win32",
): string {
  const parts = framesOf(message).map((text) => ({ text, kind: kindOf(text, ownSources, windows) }));
  if (!parts.some(({ kind }) => kind === "user")) return message;
  const kept: string[] = [];
  for (const { text, kind } of parts) {
    if (kind !== "own") kept.push(text);
    else if (text.endsWith(OPENING)) kept.push((kept.pop() ?? "") + OPENING);
  }
  return kept.join("\n");
}

/** The lines of a message; a frame is one, also where the terminal makes Wrangler break it before its place. */
function framesOf(message: string): string[] {
  const parts: string[] = [];
  for (const line of message.split("\n")) {
    const last = parts.at(-1) ?? "";
    const mayBeRest = FRAME.test(last) && !FRAME.test(line);
    const isRest = mayBeRest && placeIn(last) === null && placeIn(`${last}\n${line}`) !== null;
    if (isRest) parts[parts.length - 1] = `${last}\n${line}`;
    else parts.push(line);
  }
  return parts;
}

function kindOf(part: string, ownSources: readonly string[], windows: boolean): StackLine["kind"] {
  const line = lineOf(part);
  const frame = frameOf(line);
  const file = frame === null ? null : fileOf(frame.url, windows);
  const isOwn = (folder: string) => file !== null && isBelow(file, folder, windows ? win32 : posix);
  if (ownSources.some(isOwn)) return "own";
  const [{ kind, place } = { kind: "text", place: null }] = stackLines(line);
  return place === null ? "text" : kind;
}

function placeIn(part: string): string | null {
  return stackLines(lineOf(part))[0]?.place ?? null;
}

/** Makes the line that a frame was before a terminal has coloured and broken it; no text for what is too long for one. */
function lineOf(part: string): string {
  if (part.length > FRAME_UNITS_MAX) return "";
  const plain = stripVTControlCharacters(part).replaceAll(/(\(?)\n\s*/g, (_, open) => open || " ");
  return plain.endsWith(OPENING) ? plain.slice(0, -OPENING.length) : plain;
}
