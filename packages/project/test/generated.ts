import { join } from "node:path";
import { makePlan, type Plan } from "@sluice/project/generate/plan";
import type { Purpose } from "@sluice/project/generate/worker-config";
import { type Project, readProject } from "@sluice/project/read/project";
import { loadWrangler } from "@sluice/project/wrangler/load-wrangler";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";

// Loaded before the tests: it takes seconds on a busy machine, which would count for the first test's time limit.
loadWrangler();

interface GenerateOptions {
  readonly purpose: Purpose["kind"];
  readonly targets?: readonly string[];
  readonly env?: string;
  /** Environment variables of the command. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Plans the files that a command in a folder would write, without writing them. Our runtime is `/runtime/worker.js` and
 * `broker.js`.
 */
export async function generate(
  folder: string,
  options: GenerateOptions,
): Promise<{ project: Project; plan: Plan }> {
  const { purpose, targets = [], env = "", environment = {} } = options;
  const project = await readProject({ targets, env, workingDirectory: folder });
  const plan = makePlan(project, purpose, {
    outputDirectory: join(folder, ".sluice"),
    workingDirectory: process.cwd(),
    runtime: { worker: join(folder, "runtime/worker.js"), broker: join(folder, "runtime/broker.js") },
    page: new Uint8Array([0]),
    ...(purpose === "dev"
      ? { readyBroker: { code: "export function readyBroker() {}", map: null, paint: (text) => text } }
      : {}),
    defaults: await wranglerDefaults(),
    environment,
  });
  return { project, plan };
}

/** The generated configuration of a Worker, the broker included. */
export function configOf(plan: Plan, name: string): Record<string, unknown> {
  return JSON.parse(fileOf(plan, name, "wrangler.json"));
}

export function fileOf(plan: Plan, name: string, file: string): string {
  const worker = [...plan.workers, plan.broker].find((candidate) => candidate.name === name);
  const contents = worker?.files[file];
  if (typeof contents !== "string") throw new Error(`the plan has no ${file} for "${name}"`);
  return contents;
}
