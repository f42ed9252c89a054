import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { project } from "../test/project.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`the README has no ${language} block`);
  return found;
}

test("the example of the README runs in plain Node and prints what it says", () => {
  const index = new URL("./index.ts", import.meta.url).href;
  const folder = project({
    "shop/wrangler.toml": block("toml"),
    "example.ts": block("ts").replace('"@sluice/config"', JSON.stringify(index)),
    "package.json": `{ "type": "module" }`,
  });
  const printed = execFileSync(process.execPath, ["example.ts"], { cwd: folder, encoding: "utf8" });
  expect(printed).toBe(block("text"));
}, 30_000);
