import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { install } from "sluice/test/install";

/** A project outside of the workspace, with both commands installed as by npm. */
export interface StartProject {
  readonly folder: string;
  /** Script for Node.js that `npx sluice` would run. */
  readonly sluice: string;
  /** Script for Node.js that `npx wrangler` would run. */
  readonly wrangler: string;
  /** Configurations of its Workers; the first one answers HTTP requests. */
  readonly configs: readonly string[];
  /** Saves the module of the first Worker, which answers with this text. */
  save(answer: string): Promise<void>;
}

/**
 * Makes a project of a Worker that sends and one that receives, with the packed archive of `sluice` and the Wrangler of
 * this workspace.
 *
 * @param handledUrl URL that the consumer calls for each batch.
 */
export async function makeProject(folder: string, handledUrl: string): Promise<StartProject> {
  const sluice = install(folder);
  await mkdir(path.join(folder, "consumer"), { recursive: true });
  await mkdir(path.join(folder, "producer"), { recursive: true });
  const common = { main: "index.js", compatibility_date: "2026-01-01" };
  const settings = { max_batch_size: 10, max_batch_timeout: 0 };
  const producer = {
    name: "producer",
    ...common,
    queues: { producers: [{ binding: "JOBS", queue: "jobs" }] },
  };
  const consumer = { name: "consumer", ...common, queues: { consumers: [{ queue: "jobs", ...settings }] } };
  const configs = ["producer", "consumer"].map((name) => path.join(folder, name, "wrangler.json"));
  for (const [i, config] of [producer, consumer].entries()) {
    await writeFile(configs[i] ?? "", JSON.stringify(config));
  }
  await writeFile(
    path.join(folder, "consumer/index.js"),
    `export default {
  async queue() {
    await fetch(${JSON.stringify(handledUrl)}, { method: "POST" });
  },
};
`,
  );
  return {
    folder,
    configs,
    sluice,
    wrangler: path.join(folder, "node_modules/wrangler/bin/wrangler.js"),
    save: (answer) =>
      writeFile(
        path.join(folder, "producer/index.js"),
        `export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/send") await env.JOBS.send("a job");
    return new Response(${JSON.stringify(answer)});
  },
};
`,
      ),
  };
}
