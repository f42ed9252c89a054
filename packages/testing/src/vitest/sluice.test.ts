import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { type PoolContext, type SluiceOptions, sluice } from "./sluice.ts";

const WRANGLER = { wrangler: { configPath: "./wrangler.toml" } };

/** Makes the object as whose member Cloudflare's plugin calls the function. */
function callerOf(plugin: string, name = "") {
  const project = {
    name,
    config: { root: "/" },
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
