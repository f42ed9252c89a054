import type { Project } from "@sluice/project/read/project";
import { expect, it } from "vitest";
import { introducer } from "./topology-table.ts";

it("shows warnings and queues of a project, and after another reading only what is not the same as before", () => {
  const printed: string[] = [];
  const introduce = introducer({
    print: (text) => printed.push(text),
    warn: (text) => printed.push(`! ${text}`),
  });
  const project = (...warnings: string[]) =>
    ({ warnings, topology: { queues: {} }, elsewhere: [] }) as unknown as Project;
  const isSaidOf = (...given: string[]) => {
    printed.length = 0;
    introduce(project(...given));
    return printed;
  };

  expect(isSaidOf("old", "older")).toEqual(["! old\nolder", expect.any(String)]);
  expect(isSaidOf("old", "older")).toEqual([]);
  expect(isSaidOf("old")).toEqual(["! old"]);
  expect(isSaidOf()).toEqual([]);
  expect(isSaidOf("old")).toEqual(["! old"]);
});
