import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const FRAME = /^\s+at /;
const FILE = /(?:file:\/\/)?\/[\s\S]/;
const FRAME_END = /:\d+:\d+\)?(?: \{)?$/;
/** End of the last frame of an error that has a cause or other properties. */
const OPENING = " {";

/**
 * Leaves our own part of a stack trace out, for the terminal. One that has no other is about us, and is shown as it is.
 *
 * @param ownSources folders of our own sources. Absolute.
 */
export function withoutOwnFrames(message: string, ownSources: readonly string[]): string {
  const parts = framesOf(message).map((text) => ({ text, kind: kindOf(text, ownSources) }));
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

function kindOf(part: string, ownSources: readonly string[]): "text" | "own" | "user" {
  const place = placeIn(part);
  if (place === undefined) return "text";
  const file = place.startsWith("file:") ? fileURLToPath(place) : place;
  return ownSources.some((folder) => isBelow(file, folder)) ? "own" : "user";
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

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + sep);
}
