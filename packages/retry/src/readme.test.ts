import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`the README has no ${language} block`);
  return found;
}

test("the example of the README runs in plain Node and prints what it says", () => {
  const index = JSON.stringify(new URL("./index.ts", import.meta.url).href);
  const example = block("ts").replace('"@sluice/retry"', index);
  const flags = ["--input-type=module-typescript", "--eval", example];
  expect(execFileSync(process.execPath, flags, { encoding: "utf8" })).toBe(block("text"));
}, 30_000);
