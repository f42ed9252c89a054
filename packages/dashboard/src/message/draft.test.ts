import { describe, expect, it } from "vitest";
import { checkDraft, type Draft } from "./draft.ts";

const draft = (changes: Partial<Draft>): Draft => ({
  contentType: "json",
  text: "{}",
  delay: "",
  group: null,
  ...changes,
});

describe("a draft", () => {
  it.each<[Partial<Draft>, object]>([
    [
      { text: '{\n  "id": 12345678901234567890,\n  "a b": 1.0\n}' },
      { text: '{"id":12345678901234567890,"a b":1.0}', contentType: "json" },
    ],
    [
      { text: "{", contentType: "text", delay: " 30 " },
      { text: "{", contentType: "text", delaySeconds: 30 },
    ],
    [
      { text: "48 69", contentType: "bytes" },
      { body: "SGk=", contentType: "bytes" },
    ],
    [
      { text: "", contentType: "bytes", delay: "86400" },
      { body: "", contentType: "bytes", delaySeconds: 86_400 },
    ],
  ])("is sent as it is meant: %j", (changes, request) => {
    expect(checkDraft(draft(changes))).toEqual({ ok: true, request });
  });

  it.each<[Partial<Draft>, string, string]>([
    [{ text: '{\n  "a": 1,\n}' }, "body", "Line 3, column 1:"],
    [{ text: "" }, "body", "The text ends where a value should be."],
    [{ text: "xyz", contentType: "bytes" }, "body", "hexadecimal"],
    [{ group: "" }, "group", "needs a group"],
    [{ delay: "-1" }, "delay", "whole number"],
    [{ delay: "86401" }, "delay", "86,400 at most"],
  ])("is refused with what is wrong and where: %j", (changes, field, text) => {
    expect(checkDraft(draft(changes))).toEqual({ ok: false, field, text: expect.stringContaining(text) });
  });
});
