import { posix, win32 } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isBelow } from "@sluice/project/folders";
import { type StackLine, stackLines } from "@sluice/protocol/stack";
import { fileOf } from "./file-of.ts";
import { frameOf } from "./named-stack.ts";

const FRAME = /^\s+at /;
/** End of an error's last frame where its cause or other properties follow. */
const OPENING = " {";
/** Longest part that is parsed as a frame, in UTF-16 units: a message may contain anything. */
const FRAME_UNITS_MAX = 10_000;

/**
 * Removes the frames of our own code and of the runtime from a stack trace. A trace without a frame of the user's stays
 * as it is: the error is ours.
 *
 * @param ownSources folders of our own sources. Absolute.
 * @param windows whether paths are those of Windows. Default: whether this process runs on Windows.
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

/** Splits a message into lines. A frame that Wrangler broke before its place for a narrow terminal is one part. */
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

/** Returns a frame without colours and line breaks; "" for a part that is too long to be a frame. */
function lineOf(part: string): string {
  if (part.length > FRAME_UNITS_MAX) return "";
  const plain = stripVTControlCharacters(part).replaceAll(/(\(?)\n\s*/g, (_, open) => open || " ");
  return plain.endsWith(OPENING) ? plain.slice(0, -OPENING.length) : plain;
}
