import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { SCENARIOS } from "../scenarios/index.ts";
import { writeProject } from "./write-project.ts";

interface Configuration {
  readonly name: string;
  readonly queues: {
    readonly producers: readonly { readonly binding: string; readonly queue: string }[];
    readonly consumers: readonly { readonly queue: string }[];
  };
}

it("gives every queue of the scenarios to its producer, and one consumer at most", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "conformance-project-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const workers = await writeProject(folder, SCENARIOS);
  const configurations = await Promise.all(
    workers.map(async (worker): Promise<Configuration> => {
      return JSON.parse(await readFile(path.join(folder, worker, "wrangler.json"), "utf8"));
    }),
  );
  const consumed = configurations.flatMap(({ queues }) => queues.consumers.map(({ queue }) => queue));
  expect(new Set(consumed).size).toBe(consumed.length);
  const bound = configurations.flatMap(({ queues }) => queues.producers);
  expect(bound.find(({ queue }) => queue === "dead-letter-chain-2")).toEqual({
    binding: "DEAD_LETTER_CHAIN_2",
    queue: "dead-letter-chain-2",
  });
  for (const { queue } of bound) expect(queue).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
});
