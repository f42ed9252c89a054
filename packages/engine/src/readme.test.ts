import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The first block of a language in a README. */
function block(readme: string, language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`the README has no ${language} block`);
  return found;
}

it.each(["engine", "retry"])(
  "the example of the README of %s runs in plain Node and prints what it says",
  (name) => {
    const folder = new URL(`../../${name}/`, import.meta.url);
    const readme = readFileSync(new URL("README.md", folder), "utf8");
    const index = JSON.stringify(new URL("src/index.ts", folder).href);
    const example = block(readme, "ts").replace(`"@sluice/${name}"`, index);
    const flags = ["--input-type=module-typescript", "--eval", example];
    expect(execFileSync(process.execPath, flags, { encoding: "utf8" })).toBe(block(readme, "text"));
  },
  30_000,
);
