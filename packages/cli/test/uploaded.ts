import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerdService } from "@sluice/protocol/test/workerd-process";
import { wrangler } from "./running.ts";

interface Config {
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  readonly durable_objects?: {
    readonly bindings: readonly {
      readonly name: string;
      readonly class_name: string;
      readonly script_name?: string;
    }[];
  };
  readonly services?: readonly {
    readonly binding: string;
    readonly service: string;
    readonly entrypoint?: string;
  }[];
}

/**
 * Bundles a Worker as a deployment would upload it, and makes it a service of workerd.
 *
 * @param name name of the Worker.
 * @param folder folder in which `sluice build` was run.
 * @throws Error with Wrangler's output for a Worker that it does not bundle.
 */
export async function uploaded(
  name: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<WorkerdService> {
  const outdir = join(folder, "uploads", name);
  const file = join(folder, ".sluice", name, "wrangler.json");
  const running = wrangler(["deploy", "--dry-run", "--config", file, "--outdir", outdir], folder, env);
  if ((await running.ended) !== 0) throw new Error(running.output);
  const config = JSON.parse(readFileSync(file, "utf8")) as Config;
  const data = readdirSync(outdir).filter((module) => module.endsWith(".bin"));
  const objects = config.durable_objects?.bindings ?? [];
  const bindings = [
    ...objects.map(({ name: binding, class_name, script_name }) => {
      const target = script_name === undefined ? "" : `, serviceName = "${script_name}"`;
      return `(name = "${binding}", durableObjectNamespace = (className = "${class_name}"${target}))`;
    }),
    ...(config.services ?? []).map(({ binding, service, entrypoint }) => {
      const of = entrypoint === undefined ? "" : `, entrypoint = "${entrypoint}"`;
      return `(name = "${binding}", service = (name = "${service}"${of}))`;
    }),
  ];
  return {
    name,
    source: readFileSync(join(outdir, "entry.js"), "utf8"),
    data: Object.fromEntries(data.map((module) => [module, readFileSync(join(outdir, module))])),
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags ?? [],
    bindings: bindings.join(", "),
    durableObjects: objects
      .filter(({ script_name }) => script_name === undefined)
      .map((one) => one.class_name),
  };
}
