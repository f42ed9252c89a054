import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../../packages/cli");

/** A project outside of the workspace, in which both commands are installed as npm would. */
export interface StartProject {
  readonly folder: string;
  /** Scripts for Node.js that `npx` would run. */
  readonly sluice: string;
  readonly wrangler: string;
  /** Configurations of its Workers, the one that is asked over HTTP first. */
  readonly configs: readonly string[];
  /** Saves the first Worker's module with another answer. */
  save(answer: string): Promise<void>;
}

/**
 * Makes a project of a Worker that sends and one that receives, with the packed archive of `sluice` and the Wrangler of
 * this workspace.
 *
 * @param handledUrl what the consumer posts to when it has a message.
 */
export async function makeProject(folder: string, handledUrl: string): Promise<StartProject> {
  await installPacked(folder);
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
    sluice: path.join(folder, "node_modules/sluice/dist/main.js"),
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

/** Unpacks the package, and links what its manifest asks for beside it and nothing else. No registry is asked. */
async function installPacked(folder: string): Promise<void> {
  const run = promisify(execFile);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: PACKAGE });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [{ filename: string }];
  const modules = path.join(folder, "node_modules");
  const target = path.join(modules, "sluice");
  await mkdir(target, { recursive: true });
  await run("tar", ["-xzf", path.join(folder, filename), "-C", target, "--strip-components=1"]);
  const manifest = JSON.parse(await readFile(path.join(target, "package.json"), "utf8"));
  const wanted: Record<string, string> = { ...manifest.dependencies, ...manifest.peerDependencies };
  for (const name of Object.keys(wanted)) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    await symlink(path.join(PACKAGE, "node_modules", name), path.join(modules, name));
  }
}
