import { STATUS_CODES } from "node:http";
import { isPlainValue } from "./plain-post.ts";

let dateText = "";
let dateSecond = Number.NaN;

/** What is answered, on the wire. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Wire {
  readonly text: string;
  /** Latin-1 is written for less: all of it is ASCII then. */
  readonly encoding: "latin1" | "utf8";
}

/**
 * An answer as it is written to its connection.
 *
 * @param keepAliveMs how long the connection is kept for the next request; `null` closes it.
 * @throws TypeError for headers that cannot be written.
 */
export function wireOf({ status, headers, body }: PlainAnswer, keepAliveMs: number | null): Wire {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string; // one of its own names
    // The broker's are ASCII.
    if (!isPlainValue(value)) throw new TypeError(`the header ${name} cannot be written`);
    head += `${name}: ${value}\r\n`;
  }
  const connection =
    keepAliveMs === null
      ? "Connection: close"
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}`;
  const rest = `\r\nDate: ${date()}\r\n${connection}\r\n\r\n${body}`;
  const withLength = (bodyBytes: number) => `${head}content-length: ${bodyBytes}${rest}`;
  // Most bodies are ASCII. To count the bytes makes one text of the parts, so that of all parts at once is made the one that is written.
  const text = withLength(body.length);
  const more = Buffer.byteLength(text) - text.length;
  return more === 0
    ? { text, encoding: "latin1" }
    : { text: withLength(body.length + more), encoding: "utf8" };
}

/** The date as HTTP writes it, made once for each second. */
function date(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(1_000 * second).toUTCString();
  }
  return dateText;
}
