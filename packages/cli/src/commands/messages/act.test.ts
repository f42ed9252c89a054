import { describe, expect, it } from "vitest";
import { editorOf, withOwnLineEnds } from "./act.ts";

describe("the editor", () => {
  it.each([
    [{ VISUAL: "code --wait", EDITOR: "nano" }, "linux", "code --wait"],
    [{ VISUAL: "", EDITOR: "nano" }, "win32", "nano"],
    [{}, "darwin", "vi"],
    [{}, "win32", "notepad"],
  ] as const)("of %j on %s is %s", (env, platform, expected) => {
    expect(editorOf({ env, isInteractive: true }, platform)).toBe(expected);
  });

  it("is nobody's to guess without a terminal", () => {
    expect(() => editorOf({ env: {}, isInteractive: false })).toThrow("There is no terminal to edit in");
  });
});

describe("an edited text", () => {
  it.each([
    ["a\nb", "a\nb\n", "a\nb"],
    ["a\nb\n", "a\nb\n", "a\nb\n"],
    ["a\nb", "a\r\nb\r\n", "a\nb"],
    ["a\r\nb", "a\r\nb\r\n", "a\r\nb"],
    ["a\nb", "a\nc", "a\nc"],
  ])("of %j that was saved as %j is %j", (text, saved, expected) => {
    expect(withOwnLineEnds(text, saved)).toBe(expected);
  });
});
