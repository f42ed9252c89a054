import { expect, it } from "vitest";
import { type Reply, ReplyReader } from "./beanstalkd-connection.ts";

const STREAM = Buffer.from('INSERTED 1\r\nRESERVED 1 18\r\n{"text":"a\r\nb é"}\r\nDELETED\r\nINSERTED 2\r\n');
const REPLIES: readonly Reply[] = [
  { words: ["INSERTED", "1"], data: null },
  { words: ["RESERVED", "1", "18"], data: '{"text":"a\r\nb é"}' },
  { words: ["DELETED"], data: null },
  { words: ["INSERTED", "2"], data: null },
];

it("reads several replies out of one piece", () => {
  expect(new ReplyReader().push(STREAM)).toEqual(REPLIES);
});

it("reads replies that are cut anywhere, a job's data too", () => {
  for (let cut = 0; cut <= STREAM.length; cut++) {
    const reader = new ReplyReader();
    expect([...reader.push(STREAM.subarray(0, cut)), ...reader.push(STREAM.subarray(cut))]).toEqual(REPLIES);
  }
});

it("reads replies that come byte by byte", () => {
  const reader = new ReplyReader();
  expect([...STREAM].flatMap((byte) => reader.push(Buffer.from([byte])))).toEqual(REPLIES);
});
