import { PassThrough, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { forwardLines } from "./forward-lines.ts";

it("every line is forwarded as it is rewritten, the last one even if it has no end, and none that is left out", async () => {
  const to = new PassThrough();
  const written = text(to);
  const from = Readable.from([Buffer.from("a\nb"), Buffer.from("b\n\nnoise\nc")]);
  await forwardLines(from, to, (line) => (line === "noise" ? null : `<${line}>`));
  to.end();
  expect(await written).toBe("<a>\n<bb>\n<>\n<c>\n");
});

it("a character that comes in two pieces stays whole", async () => {
  const to = new PassThrough();
  const written = text(to);
  const bytes = Buffer.from("é\n");
  await forwardLines(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]), to, (line) => line);
  to.end();
  expect(await written).toBe("é\n");
});

it("waits for who reads slowly", async () => {
  const taken: string[] = [];
  let underWay = 0;
  const to = new Writable({
    highWaterMark: 1,
    write(chunk, _, done) {
      underWay += 1;
      setImmediate(() => {
        taken.push(String(chunk));
        underWay -= 1;
        done();
      });
    },
  });
  await forwardLines(Readable.from([Buffer.from("1\n2\n3\n")]), to, (line) => line);
  expect(taken).toEqual(["1\n", "2\n", "3\n"]);
  expect(underWay).toBe(0);
});

it("goes on reading when nobody takes it any more", async () => {
  const to = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => done(new Error("EPIPE")),
  });
  const from = Readable.from([Buffer.from("1\n2\n3\n")]);
  await forwardLines(from, to, (line) => line);
  expect(from.readableEnded).toBe(true);
});
