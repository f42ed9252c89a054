import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text as textOfStream } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HTTP_LIMITS } from "./listen.ts";
import {
  bodyStart,
  bodyText,
  FRAMED_BYTES_MAX,
  FRAMED_HEADERS_LENGTH_MAX,
  PLAIN_HEADERS_MAX,
  readHead,
} from "./plain-post.ts";

const FIRST = "POST /__sluice/aws HTTP/1.1";
const headOf = (...lines: readonly string[]) => `${lines.join("\r\n")}\r\n\r\n`;
const post = (...headers: readonly string[]) => headOf(FIRST, "Host: a", "Content-Length: 0", ...headers);
const read = (text: string) => readHead(Buffer.from(text, "latin1"), null);

describe("a plain head", () => {
  it("is read as it stands, with the names of its headers in lower case", () => {
    const head = headOf(
      "POST /a/b?c=%20#d HTTP/1.1",
      "Host: [::1]:8787",
      "X-Amz-Target:AmazonSQS.SendMessage ",
      "x-empty:",
      "x-colon: \t a:\tb \t",
      "content-length: 5",
      "Connection: Keep-Alive",
    );
    const parsed = read(`${head}bytes of the body`);
    expect(parsed).toMatchObject({
      target: "/a/b?c=%20#d",
      url: "http://[::1]:8787/a/b?c=%20#d",
      bodyBytes: 5,
    });
    expect(parsed?.headers).toEqual({
      host: "[::1]:8787",
      "x-amz-target": "AmazonSQS.SendMessage",
      "x-empty": "",
      "x-colon": "a:\tb",
      "content-length": "5",
      connection: "Keep-Alive",
    });
    expect(parsed && bodyStart(parsed)).toBe(head.length);
  });

  it("that came before is not read again", () => {
    const known = read(post());
    expect(known).not.toBeNull();
    expect(readHead(Buffer.from(`${post()}more`), known)).toBe(known);
    expect(readHead(Buffer.from(post("A: b")), known)).not.toBe(known);
  });

  it("with the lines of one that came before has its own values", () => {
    const known = read(post("Authorization: a", "X-B: b"));
    const own = post("Authorization:  c ", "X-B: b").replace("Content-Length: 0", "Content-Length: 7");
    const again = readHead(Buffer.from(own), known);
    expect(again).toMatchObject({ text: own, bodyBytes: 7, headers: { authorization: "c", "x-b": "b" } });
    expect(again?.like).toBe(known);
    // Of two that differ from a third one in the same value the later has nothing of the earlier.
    expect(readHead(Buffer.from(post("Authorization: a", "X-B: d")), again)?.headers).toEqual({
      ...{ host: "a", "content-length": "0", authorization: "a", "x-b": "d" },
    });
    expect(readHead(Buffer.from(post("Authorization: a", "X-B: b")), again)).toBe(known);
  });

  it.each([
    ["that is not all here", post().slice(0, -1)],
    ["of another method", post().replace("POST", "PUT")],
    ["of HTTP/1.0", post().replace("1.1", "1.0")],
    ["whose target is a URL", post().replace("/__", "http://a/__")],
    ["behind an empty line", `\r\n${post()}`],
    ["whose lines end with LF", headOf(FIRST, "Host: a\nX: b", "Content-Length: 0")],
    ["without any header", headOf(FIRST)],
    ["without a host", headOf(FIRST, "Content-Length: 0")],
    ["with a host that is none", headOf(FIRST, "Host: a/b", "Content-Length: 0")],
    ["without the body's length", headOf(FIRST, "Host: a")],
    ["with a length that is none", headOf(FIRST, "Host: a", "Content-Length: +1")],
    ["with two hosts", post("host: b")],
    ["with two of the same header", post("X-A: 1", "x-a: 1")],
    ["with a header on two lines", post("X-A: 1", " 2")],
    ["with a space behind a name", post("X-A : 1")],
    ["without a name", post(": 1")],
    ["with a line that is no header", post("X-A")],
    ["with a byte that is not ASCII", post("X-A: \xe9")],
    ["with a control character", post("X-A: \x00")],
    ["whose connection is to be closed", post("Connection: close")],
    ["whose connection is said to be two things", post("Connection: keep-alive, upgrade")],
    ["of a proxy whose connection is to be closed", post("Proxy-Connection: close")],
    ["of chunks", post("Transfer-Encoding: chunked")],
    ["that waits to be told to go on", post("Expect: 100-continue")],
    ["that asks for another protocol", post("Upgrade: h2c")],
    ["with trailers", post("Trailer: x")],
    ["that takes trailers", post("TE: trailers")],
    ["with a header that is for answers", post("Set-Cookie: a=b")],
    ["with a name that JavaScript has a meaning for", post("__proto__: a")],
  ])("is none %s", (_, head) => {
    const known = read(post("X-A: 1"));
    expect(known).not.toBeNull();
    expect(read(head)).toBeNull();
    expect(readHead(Buffer.from(head, "latin1"), known)).toBeNull();
  });

  it.each([
    [FRAMED_BYTES_MAX - 1, true],
    [FRAMED_BYTES_MAX, true],
    [FRAMED_BYTES_MAX + 1, false],
  ])("may be of a body of %i bytes: %s", (bytes, isPlain) => {
    const head = read(headOf(FIRST, "Host: a", `Content-Length: ${bytes}`));
    expect(head?.bodyBytes).toBe(isPlain ? bytes : undefined);
  });

  it.each([
    [FRAMED_HEADERS_LENGTH_MAX - 1, true],
    [FRAMED_HEADERS_LENGTH_MAX, true],
    [FRAMED_HEADERS_LENGTH_MAX + 1, false],
  ])("may have %i characters: %s", (length, isPlain) => {
    const value = "x".repeat(length - post("X: ").length + "\r\n\r\n".length);
    const head = read(post(`X: ${value}`));
    expect(head?.text.length).toBe(isPlain ? length + "\r\n\r\n".length : undefined);
  });

  it.each([
    [PLAIN_HEADERS_MAX - 1, true],
    [PLAIN_HEADERS_MAX, true],
    [PLAIN_HEADERS_MAX + 1, false],
  ])("may have %i headers: %s", (count, isPlain) => {
    const more = Array.from({ length: count - 2 }, (_, i) => `X-${i}: a`);
    expect(Object.keys(read(post(...more))?.headers ?? {})).toHaveLength(isPlain ? count : 0);
  });
});

describe("whatever is taken for plain", () => {
  /** What a server of Node.js makes of a request. */
  interface Seen {
    readonly method: string;
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly body: number;
  }
  let server: Server;
  let socket: Socket | null = null;

  beforeAll(async () => {
    server = createServer(HTTP_LIMITS, async (request, response) => {
      const { method, url, headers } = request;
      const body = (await textOfStream(request)).length;
      response.end(`${JSON.stringify({ method, url, headers, body })}\n`);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  afterAll(() => {
    socket?.destroy();
    server.close();
    server.closeAllConnections();
  });

  /** What comes back over the connection that all share, as far as it is none of those that end it. */
  const answerTo = (request: string): Promise<string> => {
    socket ??= connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
    const over = socket;
    return new Promise((resolve, reject) => {
      let text = "";
      const done = (tell: () => void) => {
        over.removeAllListeners();
        tell();
      };
      over.on("data", (chunk) => {
        text += chunk;
        if (text.endsWith("\n") && text.includes("}")) done(() => resolve(text));
      });
      over.on("error", reject).on("close", () => {
        socket = null;
        done(() => reject(new Error(`refused with ${text}`)));
      });
      over.write(request, "latin1");
    });
  };

  const anyCase = fc.func(fc.boolean()).map((isUpper) => (name: string) => {
    return [...name].map((letter, i) => (isUpper(i) ? letter.toUpperCase() : letter)).join("");
  });
  const space = fc.oneof(
    { weight: 19, arbitrary: fc.constantFrom("", " ", "  ") },
    { weight: 1, arbitrary: fc.constant("\t") },
  );
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.stringMatching(/^[\w!#$%&'*+.^`|~-]{1,8}$/) },
    fc.constantFrom(
      ...[
        "x-amz-target",
        "content-type",
        "authorization",
        "user-agent",
        "cookie",
        "constructor",
        "keep-alive",
      ],
      ...["connection", "proxy-connection", "content-length", "host", "expect", "upgrade", "te", "trailer"],
      ...["transfer-encoding", "set-cookie", "__proto__", "age", "from", "hasownproperty", "0"],
    ),
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.stringMatching(/^[\x20-\x7e]{0,12}$/) },
    fc.constantFrom(
      ...["close", "keep-alive", "upgrade", "chunked", "gzip", "100-continue", "1", "\t1", "1\t"],
    ),
  );
  const header = fc
    .tuple(anyCase, name, fc.constantFrom("", " ", "  ", "\t"), value)
    .map(([cased, ...parts]) => {
      const [plainName, space, given] = parts;
      return `${cased(plainName)}:${space}${given}`;
    });
  const length = fc.tuple(space, fc.nat(40), space);
  const head = fc
    .record({
      path: fc.oneof(fc.constant("/"), fc.stringMatching(/^\/[\x21-\x7e]{0,10}$/)),
      host: fc.constantFrom("a", "a.b:80", "[::1]:8787", "LOCALHOST"),
      length: length.map(([before, bytes, behind]) => `Content-Length:${before}${bytes}${behind}`),
      more: fc.array(header, { maxLength: 3 }),
    })
    .chain(({ path, host, length, more }) =>
      fc
        .shuffledSubarray([`Host: ${host}`, length, ...more], { minLength: 2 + more.length })
        .map((lines) => headOf(`POST ${path} HTTP/1.1`, ...lines)),
    );
  const character = fc.oneof(
    fc.constantFrom(..."\r\n\t :,;/#?\x00\x7f\x80"),
    fc.nat(255).map((code) => String.fromCharCode(code)),
  );
  /** With a character put in, taken out, or replaced. */
  const mutated = fc
    .tuple(head, fc.nat(), character, fc.constantFrom("in", "out", "for"))
    .map(([text, given, put, how]) => {
      const at = given % text.length;
      return text.slice(0, at) + (how === "out" ? "" : put) + text.slice(how === "in" ? at : at + 1);
    });

  it("is read as if nothing had come before", () => {
    const counts = { like: 0, other: 0 };
    const changed = fc
      .tuple(head, fc.array(fc.tuple(fc.nat(), value), { maxLength: 3 }), fc.option(mutated))
      .map(([text, values, other]) => {
        const lines = text.slice(0, -4).split("\r\n");
        for (const [given, put] of values) {
          const at = 1 + (given % (lines.length - 1));
          const line = lines[at] as string; // at < length
          lines[at] = line.slice(0, line.indexOf(":") + 1) + put;
        }
        return [text, other ?? headOf(...lines)] as const;
      });
    fc.assert(
      fc.property(changed, fc.boolean(), ([before, text], isTwice) => {
        const known = read(before);
        const [bytes, alone] = [Buffer.from(text, "latin1"), read(text)];
        const first = readHead(bytes, known);
        const seen = isTwice ? readHead(bytes, first ?? known) : first;
        if (seen !== null && seen !== known && seen.like === known?.like) counts.like += 1;
        else counts.other += 1;
        const plain = (one: typeof seen) => one && { ...one, like: null, first: null, lines: null };
        expect(plain(seen)).toEqual(plain(alone));
      }),
      { numRuns: 8_000 },
    );
    expect(Math.min(counts.like, counts.other)).toBeGreaterThan(50);
  });

  it("is the same request to Node.js's own server, over a connection that is kept", async () => {
    const counts = { plain: 0, other: 0 };
    await fc.assert(
      fc.asyncProperty(fc.oneof(head, mutated), async (text) => {
        const plain = read(text);
        if (plain === null || bodyStart(plain) !== text.length) {
          counts.other += 1;
          return;
        }
        counts.plain += 1;
        const answer = await answerTo(text + "x".repeat(plain.bodyBytes));
        expect(answer).toContain("\r\nConnection: keep-alive\r\n");
        const seen = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as Seen;
        expect(seen).toEqual({
          ...{ method: "POST", url: plain.target, headers: { ...plain.headers }, body: plain.bodyBytes },
        });
      }),
      { numRuns: 8_000 },
    );
    // Most of either kind would be a property of nothing.
    expect(Math.min(counts.plain, counts.other)).toBeGreaterThan(1_000);
  });
});

describe("a body", () => {
  it.each([
    ["no bytes", [], ""],
    ["ASCII", [0x61, 0x62], "ab"],
    ["other UTF-8", [...Buffer.from("é€😀")], "é€😀"],
    ["the character that stands for what is no text", [...Buffer.from("a\ufffdb")], "a\ufffdb"],
    ["the beginning of a byte order mark in another character", [0xef, 0xbb, 0xbe], "\ufefe"],
    ["a byte order mark behind other text", [0x61, 0xef, 0xbb, 0xbf], "a\ufeff"],
  ])("of %s is text", (_, bytes, text) => {
    expect(bodyText(Buffer.from(bytes))).toBe(text);
  });

  it.each([
    ["a byte order mark", [0xef, 0xbb, 0xbf]],
    ["a byte order mark before text", [0xef, 0xbb, 0xbf, 0x61]],
    ["a byte that begins nothing", [0x61, 0xff]],
    ["a character cut off", [0xe2, 0x82]],
    ["half of a surrogate pair", [0xed, 0xa0, 0x80]],
    ["an overlong character", [0xc0, 0xaf]],
    ["such bytes beside the character that stands for them", [...Buffer.from("\ufffd"), 0xff]],
  ])("with %s is none", (_, bytes) => {
    expect(bodyText(Buffer.from(bytes))).toBeNull();
  });
});
