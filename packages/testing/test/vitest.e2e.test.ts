import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SLUICE } from "sluice/test/running";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installedProject, TSC } from "./installed-project.ts";

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

let project: string;
beforeAll(() => {
  const beside = ["@cloudflare/vitest-plugin", "@cloudflare/workers-types", "@types/node", "vitest"];
  project = installedProject("shop", { beside });
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Makes the environment of a project's tests, without Vitest's own variables. */
function environment(): NodeJS.ProcessEnv {
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, NODE_ENV: ____, ...rest } = process.env;
  return { ...rest, CI: "1", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
}

it("sluice init shows the configuration of a plain project with sluice(), and writes it", () => {
  const folder = join(project, "notes");
  const file = join(folder, "vitest.config.ts");
  const plain = readFileSync(file, "utf8");
  const init = (...args: string[]) =>
    execFileSync(process.execPath, [SLUICE, "init", ...args], { cwd: folder, encoding: "utf8" });
  const shown = init("--dry-run");
  expect(shown).toContain('+import { sluice } from "@sluice/testing/vitest";\n');
  expect(shown).toContain(
    '+  plugins: [cloudflareTest(sluice({ wrangler: { configPath: "./wrangler.jsonc" } }))],\n',
  );
  expect(readFileSync(file, "utf8")).toBe(plain);
  expect(init("--yes")).toContain(shown);
  expect(init("--yes")).toBe("There is nothing to change.\n");
});

it("the packed package puts the broker into a project's tests by Cloudflare's plugin for Vitest", () => {
  const vitest = join(project, "node_modules/vitest/vitest.mjs");
  // A busy machine takes longer than Vitest's 5 s.
  const args = [vitest, "run", "--reporter=json", "--outputFile=results.json", "--testTimeout=60000"];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    cwd: project,
    env: environment(),
    encoding: "utf8",
  });
  const results = JSON.parse(readFileSync(join(project, "results.json"), "utf8"));
  const tests: TestResult[] = results.testResults.flatMap(
    ({ assertionResults }: { assertionResults: TestResult[] }) => assertionResults,
  );
  expect(tests.filter((test) => test.status !== "passed")).toEqual([]);
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  expect(tests.length).toBeGreaterThan(12);
  // The project that was plain before.
  expect(tests.map(({ fullName }) => fullName)).toContain("what a request sends is retried after an hour");
  // The broker does not print successful deliveries.
  expect(stdout).not.toContain("QUEUE ");
});

it("the types of sluice() fit those of Cloudflare's plugin", () => {
  execFileSync(process.execPath, [TSC, "-p", "."], { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
});
