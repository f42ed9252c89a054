import type { Readable } from "node:stream";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import type { BatchMessage } from "../../client/messages.ts";

/**
 * Splits a text in UTF-8 into lines, without their ends and without a byte order mark, which editors of Windows write.
 * Node's own reader also ends a line at U+2028, which strings of JSON may contain.
 */
export async function* linesOf(input: Readable): AsyncGenerator<string, undefined> {
  let isFirst = true;
  const bare = (line: string) => {
    const text = isFirst ? line.replace(/^\uFEFF/, "") : line;
    isFirst = false;
    return text.replace(/\r$/, "");
  };
  // Parts of a line are put together once, at its end: a line may be a whole file.
  let parts: string[] = [];
  for await (const chunk of input.setEncoding("utf8")) {
    const [end = "", ...lines] = String(chunk).split("\n");
    parts.push(end);
    for (const begin of lines) {
      yield bare(parts.join(""));
      parts = [begin];
    }
  }
  const rest = parts.join("");
  if (rest !== "") yield bare(rest);
}

/** Most messages in one request. The broker accepts no more. */
export const BATCH_MESSAGES = 100;
/** Most bytes of the messages' JSON in one request. The broker accepts 1 MiB of bodies. */
export const BATCH_BYTES = 1_000_000;

/** Counts the bytes of a message in a request, its comma included. They are never fewer than those of its body. */
export function bytesInRequest(message: object): number {
  return Buffer.byteLength(JSON.stringify(message)) + 1;
}

/** Members of a line that are sent unchecked: the broker validates them. */
const MEMBERS = ["contentType", "text", "base64", "delaySeconds", "group", "attributes", "trace"] as const;

/**
 * Reads the message of a line. The line is as an export writes it, or `{"body": ANYTHING}`. Without a `contentType`, a
 * string as `body` is sent as `text`, and anything else as `json`.
 *
 * @param place file and number of the line, for error texts.
 * @throws CliError for a line that is not a message.
 */
export function messageIn(line: string, place: string): BatchMessage {
  const value = jsonIn(line, place);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CliError(
      `${place}: a line is an object: {"contentType": "json", "text": "…"}, or {"body": …}`,
      EXIT_FAILED,
    );
  }
  const given = value as Record<string, unknown>;
  const message: Record<string, unknown> = Object.fromEntries(
    MEMBERS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  if ("body" in given && message.text === undefined && message.base64 === undefined) {
    const { body } = given;
    message.contentType ??= typeof body === "string" ? "text" : "json";
    const isText = typeof body === "string" && message.contentType === "text";
    message.text = isText ? body : JSON.stringify(body);
  }
  if (message.text === undefined && message.base64 === undefined) {
    throw new CliError(`${place}: the line has no body: "text", "base64" or "body"`, EXIT_FAILED);
  }
  return message;
}

function jsonIn(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CliError(`${place}: ${error instanceof Error ? error.message : error}`, EXIT_FAILED);
  }
}
