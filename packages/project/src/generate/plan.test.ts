import { join } from "node:path";
import { expect, it } from "vitest";
import { fileOf, generate } from "../../test/generated.ts";
import { projectFolder } from "../../test/project-folder.ts";

const MODULE = (name: string) =>
  `export default ({ mode }) => ({ worker: { name: ${name}, entrypoint: "i.js", compatibilityDate: "2026-11-01" } });`;

it.each([
  ["", '"shop"', "shop"],
  ["staging", '"shop"', "shop.staging"],
  ["staging", '"shop-" + mode', "shop-staging"],
])("a cloudflare.config.ts has a folder for the mode %j and the name %s: %s", async (env, name, folder) => {
  const project = projectFolder({
    "package.json": '{ "type": "module" }',
    "cloudflare.config.ts": MODULE(name),
    "i.js": "export default { fetch() {} };\n",
  });
  const { plan } = await generate(project, { purpose: "build", env });
  expect(plan.workers.map(({ directory }) => directory)).toEqual([join(project, ".sluice", folder)]);
});

const CONSUMER = '[[queues.consumers]]\nqueue = "orders"\n';
const LOGS = (value: boolean) => `[sluice.queues.orders]\nlogs = ${value}\n`;

it.each([
  ["dev", CONSUMER, true],
  ["dev", CONSUMER + LOGS(false), false],
  ["dev", '[[queues.producers]]\nqueue = "orders"\nbinding = "Q"\n', false],
  ["serve", CONSUMER, false],
  ["build", CONSUMER, false],
  ["build", CONSUMER + LOGS(true), true],
  ["serve", CONSUMER + LOGS(true), true],
] as const)(
  "in %s a consumer watches the console before the user's code where it is asked: %j: %s",
  async (purpose, rest, watches) => {
    const folder = projectFolder({
      "wrangler.toml": `name = "api"\nmain = "i.js"\ncompatibility_date = "2026-11-01"\n${rest}`,
      "i.js": "export default { fetch() {}, queue() {} };\n",
    });
    const { plan } = await generate(folder, { purpose });
    const lines = fileOf(plan, "api", "entry.js").split("\n");
    expect(lines.indexOf('import "./console.js";')).toBe(watches ? 1 : -1);
    expect("console.js" in (plan.workers[0]?.files ?? {})).toBe(watches);
    // Only a developer's terminal names queue and message beside a line.
    const call = purpose === "dev" ? 'watchConsole({"names":true});' : "watchConsole();";
    if (watches) expect(fileOf(plan, "api", "console.js").split("\n").slice(-3)).toEqual(["", call, ""]);
  },
);
