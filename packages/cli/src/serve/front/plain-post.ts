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
  /** The head that was read line by line, of which this one differs in a few values at most: itself, if it was read so. */
  readonly like: LinedHead;
}

/** A header as it stands on the wire. */
interface HeaderLine {
  /** In lower case. */
  readonly name: string;
  /** With the end of the line. */
  readonly text: string;
  /** What stands before the value: the name and its colon. */
  readonly before: string;
}

/** A head whose lines are known, to tell those of others from. */
class LinedHead implements PlainHead {
  readonly text: string;
  readonly target: string;
  readonly headers: PlainHeaders;
  readonly url: string;
  readonly bodyBytes: number;
  readonly like = this;
  /** Its first line, with its end. */
  readonly first: string;
  readonly lines: readonly HeaderLine[];

  constructor(head: Omit<PlainHead, "like"> & Pick<LinedHead, "first" | "lines">) {
    ({
      text: this.text,
      target: this.target,
      headers: this.headers,
      url: this.url,
      bodyBytes: this.bodyBytes,
      first: this.first,
      lines: this.lines,
    } = head);
  }
}

const LINE_END = "\r\n";
const HEAD_END = "\r\n\r\n";
/** Nothing in it that parsers of HTTP see differently. */
const HEAD = /^POST \/[\x21-\x7e]* HTTP\/1\.1(?:\r\n[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e]*)+$/;
/** The same of a value alone: what is in none. */
const NO_VALUE = /[^\t\x20-\x7e]/;
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

/** Headers by which a head is another: the address of what is asked for is made of one, the other may end the connection. */
const DECISIVE: readonly string[] = ["host", "connection"];
/** Most values in which a head differs from one that it is like. AWS's SDKs sign each request anew, which takes four. */
const CHANGED_MAX = 6;

/**
 * Reads the head of a POST request at the beginning of `bytes`. `null` for all others, and for whatever is not as simple as can
 * be: `node:http` is to make something of it, or refuse it.
 *
 * @param known a head that came before: most clients write the same one again and again, or one with a few other values. To
 *   read that of an SDK line by line takes a fifth of the time of a send.
 */
export function readHead(bytes: Buffer, known: PlainHead | null): PlainHead | null {
  // Who changes a value with each request would be compared in vain.
  const mayBeSame = known !== null && known.like === known;
  if (mayBeSame && bytes.toString("latin1", 0, known.text.length) === known.text) return known;
  const end = bytes.indexOf(HEAD_END);
  if (end === -1 || end > FRAMED_HEADERS_LENGTH_MAX) return null;
  const text = bytes.toString("latin1", 0, end + HEAD_END.length);
  return (known === null ? null : readLike(text, known.like)) ?? readLines(text);
}

/** Whether a header can have this value. */
export function isPlainValue(value: string): boolean {
  return !NO_VALUE.test(value);
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

/** A head with the lines of another, but for some of their values. `null` for one that is to be read line by line. */
function readLike(text: string, like: LinedHead): PlainHead | null {
  if (!isAt(text, 0, like.first)) return null;
  let from = like.first.length;
  let headers: Record<string, string> | null = null;
  let changed = 0;
  for (const line of like.lines) {
    if (isAt(text, from, line.text)) {
      from += line.text.length;
      continue;
    }
    changed += 1;
    if (changed > CHANGED_MAX || !isAt(text, from, line.before) || DECISIVE.includes(line.name)) return null;
    const end = text.indexOf(LINE_END, from);
    const value = text.slice(from + line.before.length, end);
    if (!isPlainValue(value)) return null;
    headers ??= { ...like.headers };
    headers[line.name] = value.trim();
    from = end + LINE_END.length;
  }
  // More lines.
  if (from !== text.length - LINE_END.length) return null;
  if (headers === null) return like;
  const bodyBytes = bodyBytesOf(headers);
  return bodyBytes === null ? null : { text, target: like.target, headers, url: like.url, bodyBytes, like };
}

/** `startsWith` with a place compares character by character once it is compiled: this takes a third of the time. */
function isAt(text: string, from: number, part: string): boolean {
  return text.slice(from, from + part.length) === part;
}

function readLines(text: string): PlainHead | null {
  const end = text.length - HEAD_END.length;
  if (!HEAD.test(text.slice(0, end))) return null;
  const headers: Record<string, string> = {};
  const lines: HeaderLine[] = [];
  let lineEnd = text.indexOf(LINE_END);
  const first = text.slice(0, lineEnd + LINE_END.length);
  const target = text.slice(BEFORE_TARGET, lineEnd - BEHIND_TARGET);
  while (lineEnd < end) {
    const from = lineEnd + LINE_END.length;
    const colon = text.indexOf(":", from);
    lineEnd = text.indexOf(LINE_END, colon);
    const name = text.slice(from, colon).toLowerCase();
    // What is said twice means different things.
    if (Object.hasOwn(headers, name) || UNUSUAL.includes(name) || lines.length === PLAIN_HEADERS_MAX)
      return null;
    headers[name] = text.slice(colon + 1, lineEnd).trim();
    lines.push({
      name,
      text: text.slice(from, lineEnd + LINE_END.length),
      before: text.slice(from, colon + 1),
    });
  }
  const { host = "", connection = "keep-alive" } = headers;
  const bodyBytes = bodyBytesOf(headers);
  if (!HOST.test(host) || bodyBytes === null || connection.toLowerCase() !== "keep-alive") return null;
  return new LinedHead({ text, target, headers, url: `http://${host}${target}`, bodyBytes, first, lines });
}

/** `null` for none, and for more than are taken. */
function bodyBytesOf({ "content-length": length = "" }: PlainHeaders): number | null {
  const bytes = LENGTH.test(length) ? Number(length) : Number.NaN;
  return bytes <= FRAMED_BYTES_MAX ? bytes : null;
}
