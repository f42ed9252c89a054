import type { IncomingMessage } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeadGate } from "./head-gate.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";

/**
 * A gate and what it has let through; requests are told of as the parser tells of them.
 *
 * @param pauses whether the parser is not ready any more after each time that it is called.
 */
function gateFor(pauses = false) {
  const parsed: string[] = [];
  const heads: number[] = [];
  let isTooLong = false;
  const parser = { isReady: true };
  const gate: HeadGate = new HeadGate({
    parse: (bytes) => {
      if (!parser.isReady) throw new Error("paused");
      parsed.push(bytes.toString("latin1"));
      if (pauses) parser.isReady = false;
      const head = parsed.join("").split("\r\n\r\n").slice(-2)[0] ?? "";
      if (!parsed.join("").endsWith("\r\n\r\n")) return;
      const [, length] = /content-length: (\d+)$/.exec(head) ?? [];
      const headers = length === undefined ? {} : { "content-length": length };
      heads.push(gate.headBytes);
      gate.began({ headers } as IncomingMessage);
    },
    isReady: () => parser.isReady,
    tooLong: () => {
      isTooLong = true;
    },
  });
  return { gate, parser, parsed, heads, all: () => parsed.join(""), isTooLong: () => isTooLong };
}

const head = (bytes: number) => `GET / HTTP/1.1\r\nx: ${"y".repeat(bytes - 23)}\r\n\r\n`;

describe("a head", () => {
  it("is let through as it comes, and what is behind it by itself", () => {
    const { gate, parsed, heads } = gateFor();
    for (const piece of ["GET / HTTP/1.1\r\n", "host: a\r\n\r", "\nGET"]) gate.came(Buffer.from(piece));
    expect(parsed).toEqual(["GET / HTTP/1.1\r\n", "host: a\r\n\r", "\n", "GET"]);
    expect(heads).toEqual(["GET / HTTP/1.1\r\nhost: a\r\n\r\n".length]);
  });

  it.each([
    [HEAD_BYTES_MAX - 1, false],
    [HEAD_BYTES_MAX, false],
    [HEAD_BYTES_MAX + 1, true],
  ])("of %i bytes is too long: %s", (bytes, isTooLong) => {
    for (const pieces of [1, 2, 1_000]) {
      const seen = gateFor();
      const text = Buffer.from(head(bytes));
      const size = Math.ceil(text.length / pieces);
      for (let at = 0; at < text.length; at += size) seen.gate.came(text.subarray(at, at + size));
      expect(seen.isTooLong()).toBe(isTooLong);
      if (!isTooLong) expect(seen.all()).toBe(text.toString());
    }
  });

  it("is too long where it has no end", () => {
    const seen = gateFor();
    seen.gate.came(Buffer.alloc(HEAD_BYTES_MAX + 1, "x"));
    expect(seen.isTooLong()).toBe(true);
    expect(seen.parsed).toEqual([]);
  });
});

it("holds what comes while the parser is not ready, and lets nothing through when it is closed", () => {
  const [first, second] = ["GET /1 HTTP/1.1\r\n\r\n", "POST /2 HTTP/1.1\r\ncontent-length: 2\r\n\r\n"];
  const { gate, parser, all } = gateFor(true);
  gate.came(Buffer.from(`${first}${second}a`));
  gate.came(Buffer.from(`b${first}`));
  gate.goOn();
  expect(all()).toBe(first);
  parser.isReady = true;
  gate.goOn();
  expect(all()).toBe(`${first}${second}`);
  for (let turn = 0; turn < 2; turn += 1) {
    parser.isReady = true;
    gate.goOn();
  }
  expect(all()).toBe(`${first}${second}ab${first}`);
  gate.came(Buffer.from(first));
  gate.close();
  parser.isReady = true;
  gate.goOn();
  expect(all()).toBe(`${first}${second}ab${first}`);
});

it.each([false, true])(
  "changes nothing in what comes, however it is cut (the parser pauses: %s)",
  (pauses) => {
    const request = fc.oneof(
      fc.constant("GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
      fc.string({ maxLength: 40 }).map((body) => {
        const bytes = Buffer.from(body);
        return `POST / HTTP/1.1\r\ncontent-length: ${bytes.length}\r\n\r\n${bytes.toString("latin1")}`;
      }),
    );
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 5 }),
        fc.array(fc.nat(200), { maxLength: 20 }),
        (requests, cuts) => {
          const seen = gateFor(pauses);
          const text = Buffer.from(requests.join(""), "latin1");
          const places = [
            ...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length]),
          ].sort((a, b) => a - b);
          for (const [i, from] of places.entries()) {
            seen.gate.came(text.subarray(from, places[i + 1] ?? from));
            if (i % 3 === 0) seen.parser.isReady = true;
            seen.gate.goOn();
          }
          for (let turn = 0; turn < 50; turn += 1) {
            seen.parser.isReady = true;
            seen.gate.goOn();
          }
          expect(seen.all()).toBe(text.toString("latin1"));
        },
      ),
    );
  },
);
