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
    [{ text: '{"a": [1]}' }, { body: { a: [1] }, contentType: "json" }],
    [
      { text: "{", contentType: "text", delay: " 30 " },
      { body: "{", contentType: "text", delaySeconds: 30 },
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
    [{ group: "" }, "group", "in a group"],
    [{ delay: "-1" }, "delay", "whole number"],
    [{ delay: "86401" }, "delay", "86,400 at most"],
  ])("is refused with what is wrong and where: %j", (changes, field, text) => {
    expect(checkDraft(draft(changes))).toEqual({ ok: false, field, text: expect.stringContaining(text) });
  });
});
