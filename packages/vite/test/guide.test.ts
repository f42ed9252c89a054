import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
/** Tests leave out options for a port of their own. */
const flat = (text: string) =>
  text.replaceAll(", inspectorPort: false", "").replaceAll(/\s+/g, " ").replaceAll(", ]", " ]").trim();

/** Files that tests run and that contain the guide's snippets. */
const RUN = [
  ...["react-router/vite.config.mjs", "shop/vite.config.mjs", "tanstack-start/vite.config.mjs"],
  ...["tanstack-start/src/server.ts"],
].map((file) => `packages/vite/test/fixtures/${file}`);
const TESTS = [
  ...RUN,
  "packages/vite/test/root.slow.test.ts",
  "packages/cli/test/fixtures/sveltekit/src/hooks.server.js",
  "packages/cli/test/fixtures/nitro/server/plugins/queues.js",
  "packages/cli/test/platform-proxy.e2e.test.ts",
  "packages/cli/test/sluice-workers.e2e.test.ts",
  "apps/installs/test/fixtures/next/next.config.mjs",
].map((file) => flat(read(file)));
const SNIPPETS = [...read("docs/vite.md").matchAll(/```[jt]s\n(.*?)```/gs)].map(([, code]) => `${code}`);

it.each(SNIPPETS)("a snippet of the guide is run by a test: %s", (snippet) => {
  expect(TESTS.some((test) => test.includes(flat(snippet)))).toBe(true);
});

it("Nuxt's server is tested with the lines of Nitro's", () => {
  const [nuxt, nitro] = ["apps/installs/test/fixtures/nuxt", "packages/cli/test/fixtures/nitro"].map(
    (folder) => read(`${folder}/server/plugins/queues.js`),
  );
  expect(nuxt).toBe(nitro);
});

it("the guide has snippets", () => expect(SNIPPETS.length).toBeGreaterThan(7));
