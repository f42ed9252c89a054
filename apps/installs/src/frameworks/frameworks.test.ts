import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FRAMEWORKS } from "./frameworks.ts";
import { CHANGED, WORD } from "./project.ts";

it.each(Object.values(FRAMEWORKS))(
  "the project $project shows the word that the test changes",
  (framework) => {
    const text = readFileSync(join(framework.project, framework.source), "utf8");
    expect(text.split(WORD)).toHaveLength(2);
    expect(text).not.toContain(CHANGED);
    expect(readFileSync(join(framework.project, framework.config), "utf8")).not.toBe("");
  },
);
