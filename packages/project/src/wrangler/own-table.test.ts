import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { WranglerChild } from "./child.ts";
import { wranglerFile } from "./load-wrangler.ts";

// In a process of its own, where Wrangler shows all of its functions.
const child = new WranglerChild({
  cwd: process.cwd(),
  env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  file: wranglerFile(),
  stdio: ["ignore", "inherit", "inherit"],
  onStart: () => {},
});
afterAll(() => child[Symbol.dispose]());

async function warningsOf(name: string, text: string, env = "") {
  const folder = projectFolder({ [name]: text });
  const { warnings, beside } = await child.answers.readConfig(join(folder, name), { env, quiet: false });
  expect(warnings).toBe("");
  return beside;
}

const WORKER = 'name = "a"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n';
const JSON_WORKER = { name: "a", main: "index.js", compatibility_date: "2026-11-01" };

it.each([
  ["wrangler.toml", `${WORKER}[sluice]\nproject = "p"\n`],
  ["wrangler.toml", `${WORKER}[[sluice.r2_notifications]]\nbucket = "photos"\n`],
  ["wrangler.jsonc", JSON.stringify({ ...JSON_WORKER, sluice: {} })],
])("Wrangler warns of no [sluice] table in a %s: %s", async (name, text) => {
  expect(await warningsOf(name, text)).toEqual([]);
});

it("Wrangler warns of what stands beside a [sluice] table, each in a line", async () => {
  const consumer = '[[queues.consumers]]\nqueue = "q"\nmax_retrys = 2\n';
  const text = `typo = 1\n${WORKER}${consumer}[sluice]\nproject = "p"\n`;
  expect(await warningsOf("wrangler.toml", text)).toEqual([
    'Unexpected fields found in queues.consumers[0] field: "max_retrys"',
    'Unexpected fields found in top-level field: "typo"',
  ]);
});

it("Wrangler warns of what stands beside a [sluice] table and a pull consumer", async () => {
  const consumer = '[[queues.consumers]]\nqueue = "q"\ntype = "http_pull"\nmax_retrys = 2\n';
  expect(await warningsOf("wrangler.toml", `${WORKER}${consumer}[sluice]\nproject = "p"\n`)).toEqual([
    'Unexpected fields found in queues.consumers[0] field: "max_retrys"',
  ]);
});

it("Wrangler warns of the environment that is read", async () => {
  const text = `${WORKER}[sluice]\nproject = "p"\n[env.x]\ntypo = 1\n`;
  expect(await warningsOf("wrangler.toml", text, "x")).toEqual([
    'Unexpected fields found in env.x field: "typo"',
  ]);
});
