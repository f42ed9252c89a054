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

/** Bundles what makes each object of a broker one of two versions, whose own bundles stay apart. */
export function bundleRollouts(): Promise<string> {
  return bundle("rollouts/broker.ts", ["old-broker", "new-broker"]);
}

async function bundle(file: string, apart: readonly string[] = []): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(FOLDER, file)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*", "node:*", ...apart],
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${file}`);
  return output.text;
}
