import { posix, win32 } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isBelow } from "@sluice/project/folders";
import { fileOf } from "./file-of.ts";

const FRAME = /^\s+at /;
const FILE = /(?:file:\/\/)?\/[\s\S]|[A-Za-z]:[\\/]/;
const FRAME_END = /:\d+:\d+\)?(?: \{)?$/;
/** End of the last frame of an error that has a cause or other properties. */
const OPENING = " {";

/**
 * Leaves our own part of a stack trace out, for the terminal. One that has no other is about us, and is shown as it is.
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
    const isRest =
      FRAME.test(last) && placeIn(last) === undefined && placeIn(`${last}\n${line}`) !== undefined;
    if (isRest) parts[parts.length - 1] = `${last}\n${line}`;
    else parts.push(line);
  }
  return parts;
}

function kindOf(part: string, ownSources: readonly string[], windows: boolean): "text" | "own" | "user" {
  const place = placeIn(part);
  if (place === undefined) return "text";
  const file = fileOf(place, windows);
  if (file === null) return "user";
  return ownSources.some((folder) => isBelow(file, folder, windows ? win32 : posix)) ? "own" : "user";
}

/** The file of a frame. Anything may be in a message, so each part of one is read once. */
function placeIn(frame: string): string | undefined {
  const plain = stripVTControlCharacters(frame);
  const beginning = FRAME.exec(plain)?.[0].length;
  const end = FRAME_END.exec(plain)?.index;
  if (beginning === undefined || end === undefined) return undefined;
  const head = plain.slice(beginning, end);
  const from = Math.max(head.lastIndexOf("("), head.lastIndexOf(")")) + 1;
  const start = head.slice(from).search(FILE);
  if (start === -1) return undefined;
  const before = head.slice(0, from + start);
  const [, ...broken] = before.split("\n");
  // A line may be broken before its file only.
  return ["", "("].includes(broken.join("\n").trimStart()) ? head.slice(from + start) : undefined;
}
