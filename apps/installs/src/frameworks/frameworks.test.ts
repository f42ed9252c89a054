import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FRAMEWORKS } from "./frameworks.ts";
import { CHANGED, projectFile, WORD } from "./project.ts";

it.each(Object.values(FRAMEWORKS))("the project $project shows the word that is changed", (framework) => {
  const text = readFileSync(projectFile(framework, framework.source), "utf8");
  expect(text.split(WORD)).toHaveLength(2);
  expect(text).not.toContain(CHANGED);
  expect(readFileSync(projectFile(framework, framework.config), "utf8")).not.toBe("");
});
