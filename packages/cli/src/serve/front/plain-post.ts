import { isUtf8 } from "node:buffer";

/** Largest body that is handed over in a frame, in bytes; a larger one costs enough that its way does not matter. */
export const FRAMED_BYTES_MAX = 65_536;
/** Most characters of headers that a frame takes; whoever sends more gets a request of its own. */
export const FRAMED_HEADERS_LENGTH_MAX = 16_384;

export type PlainHeaders = Readonly<Record<string, string>>;

/** The head of a request as AWS's clients write it. */
export interface PlainHead {
  /** As it stands on the wire, with the empty line behind it. */
  readonly text: string;
  /** Path and query. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: PlainHeaders;
  /** Absolute. One text for all requests with this head: what looks it up need not look at its characters again. */
  readonly url: string;
  readonly bodyBytes: number;
}

const HEAD_END = "\r\n\r\n";
/** Nothing in it that parsers of HTTP see differently. */
const HEAD = /^POST \/[\x21-\x7e]* HTTP\/1\.1(?:\r\n[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e]*)+$/;
const BEFORE_TARGET = "POST ".length;
const BEHIND_TARGET = " HTTP/1.1".length;
export const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i;
const LENGTH = /^\d{1,5}$/;
/** Most headers of a plain request. `node:http` has such a limit of its own, ten times as high. */
export const PLAIN_HEADERS_MAX = 100;
/** By these a request, or its connection, is no plain one. */
const UNUSUAL: readonly string[] = [
  "expect",
  "proxy-connection", // says to `node:http` what Connection says
  "set-cookie", // is a list to `node:http`
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "__proto__", // has a meaning in JavaScript
];
const BYTE_ORDER_MARK_BEGIN = 0xef;

/**
 * Reads the head of a POST request at the beginning of `bytes`. `null` for all others, and for whatever is not as simple as can
 * be: `node:http` is to make something of it, or refuse it.
 *
 * @param known a head that came before: most clients write the same one again and again.
 */
export function readHead(bytes: Buffer, known: PlainHead | null): PlainHead | null {
  if (known !== null && bytes.toString("latin1", 0, known.text.length) === known.text) return known;
  const end = bytes.indexOf(HEAD_END);
  if (end === -1 || end > FRAMED_HEADERS_LENGTH_MAX) return null;
  const text = bytes.toString("latin1", 0, end);
  return HEAD.test(text) ? parsed(text) : null;
}

/** Where the body begins, behind its head. */
export function bodyStart({ text }: PlainHead): number {
  return text.length;
}

/** A body as text; `null` for what is none. */
export function bodyText(body: Buffer): string | null {
  if (body[0] === BYTE_ORDER_MARK_BEGIN && isMarked(body)) return null;
  const text = body.toString();
  // What stands for bytes that are no text may have been sent, too.
  return text.includes("\ufffd") && !isUtf8(body) ? null : text;
}

function isMarked(body: Buffer): boolean {
  return body[1] === 0xbb && body[2] === 0xbf;
}

function parsed(text: string): PlainHead | null {
  const headers: Record<string, string> = {};
  let count = 0;
  let lineEnd = text.indexOf("\r\n");
  const target = text.slice(BEFORE_TARGET, lineEnd - BEHIND_TARGET);
  while (lineEnd < text.length) {
    const from = lineEnd + 2;
    const colon = text.indexOf(":", from);
    lineEnd = text.indexOf("\r\n", colon);
    if (lineEnd === -1) lineEnd = text.length;
    const name = text.slice(from, colon).toLowerCase();
    count += 1;
    if (count > PLAIN_HEADERS_MAX) return null;
    // What is said twice means different things.
    if (Object.hasOwn(headers, name) || UNUSUAL.includes(name)) return null;
    headers[name] = text.slice(colon + 1, lineEnd).trim();
  }
  const { host = "", connection = "keep-alive", "content-length": length = "" } = headers;
  if (!HOST.test(host) || !LENGTH.test(length) || connection.toLowerCase() !== "keep-alive") return null;
  const bodyBytes = Number(length);
  return bodyBytes > FRAMED_BYTES_MAX
    ? null
    : { text: text + HEAD_END, target, headers, url: `http://${host}${target}`, bodyBytes };
}
