import { expect, it } from "vitest";
import { foldOwnFrames } from "./terminal.ts";

const OWN = "/shop/node_modules/@sluice/vite";
const USERS = "Error: refused\n    at refuse (/shop/src/refusal.ts:7:9)";
const OURS = `
    at Proxy.<anonymous> (${OWN}/dist/worker/worker.js?v=94513b93:24:20313)
    at ${OWN}/dist/worker/worker.js?v=94513b93:24:1204
    at Proxy.fn (workers/runner-worker/index.js:272:10)`;

function loggerInto(lines: unknown[][]) {
  const printing =
    (level: string) =>
    (...args: unknown[]) =>
      void lines.push([level, ...args]);
  return { error: printing("error"), warn: printing("warn"), info: printing("info") };
}

it("a dev server prints the frames of the user's code alone, however often it is told so", () => {
  const lines: unknown[][] = [];
  const logger = loggerInto(lines);
  foldOwnFrames(logger, [OWN]);
  const { error } = logger;
  foldOwnFrames(logger, [OWN]);
  expect(logger.error).toBe(error);
  logger.error(USERS + OURS, { timestamp: true });
  logger.warn(USERS + OURS);
  logger.info("ready");
  expect(lines).toEqual([
    ["error", USERS, { timestamp: true }],
    ["warn", USERS],
    ["info", "ready"],
  ]);
});

it("an error that is ours has its frames", () => {
  const lines: unknown[][] = [];
  const logger = loggerInto(lines);
  foldOwnFrames(logger, [OWN]);
  logger.error(`Error: ours${OURS}`);
  expect(lines).toEqual([["error", expect.stringContaining("worker.js?v=94513b93:24:1204")]]);
});
