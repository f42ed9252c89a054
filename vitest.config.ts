import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Where the broker runs on plain Node.js its classes extend these. */
const alias = {
  "cloudflare:workers": fileURLToPath(new URL("packages/objects/src/workers.ts", import.meta.url)),
};

/** Tests of what clients see of the broker, which run a second time on the broker in their own process. */
const ON_NODE = ["aws-sdk-*", "sns-endpoints", "sqs-*", "cloudflare-sdk"];

/**
 * One run for the whole repository. `unit` and `node` need nothing but Node; `workerd` starts real workerd processes and real
 * wrangler ones, so its files run one after the other: two of them at once starve each other on two cores.
 */
export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: "unit",
          include: ["{packages,apps}/*/{src,test}/**/*.test.ts"],
          exclude: ["**/*.workerd.test.ts", "**/*.e2e.test.ts", "**/node_modules/**"],
          testTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: "node",
          include: ON_NODE.map((name) => `apps/broker/test/${name}.workerd.test.ts`),
          env: { SLUICE_TEST_PLATFORM: "node" },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "workerd",
          include: ["{packages,apps}/*/{src,test}/**/*.{workerd,e2e}.test.ts"],
          exclude: ["**/node_modules/**"],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
