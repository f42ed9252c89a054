import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FOLDER = fileURLToPath(new URL("../../workers/", import.meta.url));

/** Sources of the three Workers, each a module. */
export interface WorkerSources {
  readonly broker: string;
  readonly producer: string;
  readonly consumer: string;
}

/** Bundles the Workers as a deployment would. Once is enough for any number of starts. */
export async function bundleWorkers(): Promise<WorkerSources> {
  const [broker, producer, consumer] = await Promise.all([
    bundle("broker.ts"),
    bundle("producer.ts"),
    bundle("consumer.ts"),
  ]);
  return { broker, producer, consumer };
}

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(FOLDER, file)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*", "node:*"],
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${file}`);
  return output.text;
}
