import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeAnswers,
  decodeFrontMessages,
  encodeAnswers,
  encodeFrontMessages,
  type FramedAnswer,
  FrameError,
  type FrontMessage,
} from "./request-frames.ts";

const text = fc.string({ unit: "grapheme" });
const headers = fc.dictionary(text, text, { noNullPrototype: true });
const id = fc.nat();
const message: fc.Arbitrary<FrontMessage> = fc.oneof(
  fc.record({
    kind: fc.constant("request" as const),
    request: fc.record({ id, method: text, url: text, headers, body: text }),
  }),
  fc.record({ kind: fc.constantFrom("gone" as const, "written" as const), id }),
  fc.constant({ kind: "stopping" as const }),
);
const answer: fc.Arbitrary<FramedAnswer> = fc.record({
  id,
  status: fc.nat(599),
  headers,
  body: text,
  isWatched: fc.boolean(),
});

describe("a frame", () => {
  it("hands over what the front says, in order", () => {
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        expect(decodeFrontMessages(encodeFrontMessages(messages))).toEqual(messages);
      }),
    );
  });

  it("hands over answers, in order", () => {
    fc.assert(
      fc.property(fc.array(answer), (answers) => {
        expect(decodeAnswers(encodeAnswers(answers))).toEqual(answers);
      }),
    );
  });

  it.each([
    ["has no first line", "[]"],
    ["is no list", "{}\n"],
    ["ends within a body", '[[1,"POST","http://a/",{},3]]\nab'],
  ])("that %s is refused", (_, frame) => {
    expect(() => decodeFrontMessages(frame)).toThrow(FrameError);
  });
});
