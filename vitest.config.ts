import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { HAS_OTHERS, OTHERS } from "./packages/cli/test/others.ts";

/** Classes that the broker's classes extend in place of Cloudflare's where it runs on plain Node.js. */
const alias = {
  "cloudflare:workers": fileURLToPath(new URL("packages/objects/src/workers.ts", import.meta.url)),
};

/** Tests by the `cloudflare` SDK. */
const BY_SDK = ["cloudflare-sdk", "messages-over-http", "one-queue"].map(
  (name) => `apps/broker/test/${name}.workerd.test.ts`,
);
const sdk = { cloudflare: `${OTHERS}/cloudflare` };

/** Tests of what clients see of the broker, which run a second time on the broker in their own process. */
const ON_NODE = [
  "admin-messages",
  "aws-sdk-*",
  "clock",
  "faults",
  "finished",
  "history",
  "openapi",
  "mcp",
  "sharded-queues",
  "sns-endpoints",
  "sqs-*",
  "cloudflare-sdk",
];

/**
 * Processes run one file after the other and keep the modules that they have loaded: to load them anew costs more than
 * most files.
 */
const isolate = false;
/** Folder of compiled modules for the processes that tests start: Wrangler is 15 MB of source. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url));

/**
 * Tests that Windows cannot run: of file modes, links and signals, by `ps`, `bash` or `/bin/sh`, and those that compare
 * paths with slashes. Tests of what is different on Windows are given that as a platform, and run everywhere.
 */
const NOT_ON_WINDOWS = [
  "apps/installs/src/frameworks/processes.test.ts",
  "packages/cli/src/{client/find-broker,command-line,commands/doctor/doctor}.test.ts",
  "packages/cli/test/{colours,completion,deploy-*}.test.ts",
  "packages/cli/test/*.e2e.test.ts",
  "packages/local/src/data/{broker-ownership,data-lock,reserve}.test.ts",
  "packages/local/src/dev/inside/wrangler-lines.test.ts",
  "packages/local/src/serve/machine-clock.test.ts",
  "packages/local/src/stacks/{build-places,named-stack,stack-frames}.test.ts",
  "packages/local/src/workerd/bundle.test.ts",
  "packages/objects/src/{durability,files/repair-object-file}.test.ts",
  "packages/project/src/files/{secrets,write-plan}.test.ts",
  "packages/project/src/folders.test.ts",
  "packages/project/src/read/{broker-name,missing-main,project}.test.ts",
  "packages/project/src/wrangler/{load-wrangler,registry,relocate,run-wrangler.e2e}.test.ts",
  "packages/testing/src/{runtime/data-folder,vitest/project,vitest/sluice}.test.ts",
];
const notHere = process.platform === "win32" ? NOT_ON_WINDOWS : [];

/** Processes that run tests: one more than processors, since some of the tests wait. */
const UNIT_WORKERS = availableParallelism() + 1;

/** How long `expect.poll` waits, in milliseconds: what a test waits for comes late on a busy machine. */
const poll = { timeout: 30_000 };
/** The same for what several processes do. */
const pollOfProcesses = { timeout: 100_000, interval: 100 };

/** Files that start real workerd processes and real Wrangler ones. */
const ofProcesses = (name: string, include: string) => ({
  resolve: { alias: { ...alias, ...sdk } },
  test: {
    name,
    include: [include],
    exclude: ["**/node_modules/**", ...notHere, ...(HAS_OTHERS ? [] : BY_SDK)],
    env: { NODE_COMPILE_CACHE },
    globalSetup: "packages/cli/test/built-for-run.ts",
    isolate,
    // The files wait most of the time, so five run at once, however many processors there are.
    maxWorkers: 5,
    // Tests of one file that wait side by side.
    maxConcurrency: 3,
    sequence: { groupOrder: 1 },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: pollOfProcesses },
  },
});

/**
 * One run for the whole repository. `unit` and `node` need nothing but Node, and run first. `pnpm test` leaves out the
 * files of `slow` and the tests with this tag: those of many cases of a capability, those that flood or kill, and those
 * of other versions. `pnpm test:all` runs them too.
 */
export default defineConfig({
  test: {
    tags: [{ name: "slow", description: "Left out by `pnpm test`." }],
    projects: [
      {
        resolve: { alias },
        test: {
          name: "unit",
          include: ["{packages,apps}/*/{src,test}/**/*.test.ts"],
          exclude: ["**/*.{workerd,e2e,slow}.test.ts", "**/node_modules/**", ...notHere],
          isolate,
          maxWorkers: UNIT_WORKERS,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll },
        },
      },
      {
        resolve: { alias: { ...alias, ...sdk } },
        test: {
          name: "node",
          include: ON_NODE.map((name) => `apps/broker/test/${name}.workerd.test.ts`),
          exclude: HAS_OTHERS ? [] : BY_SDK,
          env: { SLUICE_TEST_PLATFORM: "node" },
          isolate,
          maxWorkers: UNIT_WORKERS,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll },
        },
      },
      ofProcesses("workerd", "{packages,apps}/*/{src,test}/**/*.{workerd,e2e}.test.ts"),
      ofProcesses("slow", "{packages,apps}/*/{src,test}/**/*.slow.test.ts"),
    ],
  },
});
