import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it, vi } from "vitest";
import { type PoolContext, type SluiceOptions, sluice } from "./sluice.ts";

const WRANGLER = { wrangler: { configPath: "./wrangler.toml" } };

/** Makes the object as whose member Cloudflare's plugin calls the function. */
function callerOf(plugin: string, name = "", root = "/") {
  const project = {
    name,
    config: { root },
    vite: { config: { plugins: [{ name: "vite" }, { name: plugin }] } },
  };
  return { options: { project } };
}
const asked = (options: SluiceOptions, caller: unknown = callerOf("@cloudflare/vitest-plugin")) =>
  sluice(options).call(caller, {} as PoolContext);

it.each<[string, SluiceOptions, string]>([
  ["no configuration", {}, "Name it: wrangler: { configPath"],
  ["a configuration of both kinds", { ...WRANGLER, config: true }, "Leave one of them out"],
  [
    "a main module",
    { ...WRANGLER, main: "src/index.ts" },
    'Name "src/index.ts" as "main" of ./wrangler.toml',
  ],
  [
    "queues of Miniflare's",
    { ...WRANGLER, miniflare: { queueProducers: ["A"] } },
    "`queueProducers` would use",
  ],
  [
    "a main module beside a cloudflare.config.ts",
    { config: true, main: "src/index.ts" },
    'Name "src/index.ts" as "worker.entrypoint" of cloudflare.config.ts',
  ],
  [
    "queues of Miniflare's in another Worker",
    {
      ...WRANGLER,
      miniflare: { workers: [{ name: "x", modules: true, script: "", queueConsumers: ["a"] }] },
    },
    "`auxiliaryWorkers`: [{ configPath:",
  ],
  ["no date", { ...WRANGLER, start: new Date(Number.NaN) }, "start: an invalid date"],
  ["a file that is not there", { wrangler: { configPath: "./nowhere.toml" } }, "/nowhere.toml: No such file"],
])("refuses %s in words, and leaves nothing behind", async (_, options, message) => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-vitest-unit-"));
  vi.stubEnv("TMPDIR", folder);
  await expect(asked(options)).rejects.toThrow(message);
  expect(readdirSync(folder).filter((name) => name.startsWith("sluice-"))).toEqual([]);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it.each([null, {}, callerOf("another-plugin")])(
  "sluice() refuses a caller that is not one of its plugins: %o",
  async (caller) => {
    await expect(asked(WRANGLER, caller)).rejects.toThrow("plugins: [cloudflareTest(sluice({ … }))]");
  },
);

it("prepares Workers again after a failure, and when a source of an auxiliary one changes", async () => {
  const config = (name: string) =>
    JSON.stringify({ name, main: "index.js", compatibility_date: "2026-11-01" });
  const root = projectFolder({
    "web/wrangler.json": config("web"),
    "web/index.js": "export default {};",
    "mail/wrangler.json": config("mail"),
  });
  const options = sluice({
    wrangler: { configPath: "web/wrangler.json" },
    auxiliaryWorkers: [{ configPath: "mail/wrangler.json" }],
  });
  const mail = async () => {
    const { miniflare } = await options.call(
      callerOf("@cloudflare/vitest-plugin", "", root),
      {} as PoolContext,
    );
    return JSON.stringify(miniflare?.workers?.find(({ name }) => name === "mail"));
  };
  await expect(mail()).rejects.toThrow("was not found");
  writeFileSync(join(root, "mail/index.js"), 'export { default } from "./mails.js";');
  writeFileSync(join(root, "mail/mails.js"), 'export default { fetch: () => new Response("first") };');
  expect(await mail()).toContain("first");
  expect(await mail()).toContain("first");
  writeFileSync(join(root, "mail/mails.js"), 'export default { fetch: () => new Response("second") };');
  utimesSync(join(root, "mail/mails.js"), 1, 1);
  expect(await mail()).toContain("second");
});
