import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import type { ConsumerSettings, QueueTopology } from "@sluice/protocol";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Answers, LabCommand } from "../../lab/src/commands.ts";
import { residentBytes } from "../process/memory.ts";
import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";
import { Inspector } from "./inspector.ts";

const SOURCES = fileURLToPath(new URL("../../lab/src/", import.meta.url));
export const COMPATIBILITY_DATE = "2026-11-01";

export type LabWorker = "broker" | "driver";

/** Settings of the queue "bench"; `null` leaves it without a consumer. */
export interface LabOptions {
  readonly persistDir: string;
  readonly consumer: Partial<ConsumerSettings> | null;
}

/** The broker and the bench Worker in one workerd, without Wrangler around them. */
export interface Lab {
  /** When the process was asked for, in ms since 1970. */
  readonly startedMs: number;
  tell<Kind extends LabCommand["kind"]>(command: Extract<LabCommand, { kind: Kind }>): Promise<Answers[Kind]>;
  /** One run of the comparison's workload. */
  run(way: Way, messages: number): Promise<Measured>;
  inspect(worker: LabWorker): Promise<Inspector>;
  /** Leads from a Worker's bundle back to the sources. */
  readonly sourceMaps: Readonly<Record<LabWorker, SourceMap>>;
  /** Memory of the workerd process in bytes, `null` where it cannot be read. */
  residentBytes(): Promise<number | null>;
  stop(): Promise<void>;
}

export async function startLab({ persistDir, consumer }: LabOptions): Promise<Lab> {
  const [broker, driver] = await Promise.all([bundle("broker"), bundle("driver")]);
  const startedMs = Date.now();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      resourcePersistencePath: persistDir,
      inspectorPort: 0,
      // What the Workers print is not what is measured.
      handleStructuredLogs: () => {},
      workers: [
        {
          name: "driver",
          compatibilityDate: COMPATIBILITY_DATE,
          modules: [{ type: "ESModule", path: "driver.js", contents: driver.source }],
          serviceBindings: { SELF: "driver" },
          durableObjects: {
            SLUICE_QUEUES: { className: "QueueBroker", scriptName: "broker", useSQLite: true },
          },
        },
        {
          name: "broker",
          compatibilityDate: COMPATIBILITY_DATE,
          modules: [{ type: "ESModule", path: "broker.js", contents: broker.source }],
          durableObjects: {
            SLUICE_QUEUES: { className: "QueueBroker", useSQLite: true },
            SLUICE_DIRECTORY: { className: "Directory", useSQLite: true },
          },
          serviceBindings: { CONSUMER: { name: "driver", entrypoint: "SluiceQueueConsumer" } },
          bindings: { TOPOLOGY: topology(consumer) as never },
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  await miniflare.ready;
  const ask = async (input: string, init?: { method: string; body: string }) => {
    const response = await miniflare.dispatchFetch(`http://driver/${input}`, init);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    startedMs,
    tell: async (command) => (await ask("", { method: "POST", body: JSON.stringify(command) })) as never,
    run: async (way, messages) => (await ask(`?way=${way}&messages=${messages}`)) as Measured,
    inspect: async (worker) => {
      const { host } = await miniflare.getInspectorURL();
      return Inspector.connect(`ws://${host}/core:user:${worker}`);
    },
    sourceMaps: { broker: broker.sourceMap, driver: driver.sourceMap },
    residentBytes: () => residentBytes("workerd"),
    stop: () => miniflare.dispose(),
  };
}

function topology(consumer: LabOptions["consumer"]): QueueTopology {
  const settings: ConsumerSettings = {
    maxBatchSize: 100,
    maxBatchTimeoutSeconds: 1,
    maxRetries: 3,
    maxConcurrency: null,
    retryDelaySeconds: 0,
    deadLetterQueue: null,
    ...consumer,
  };
  const queue = (own: ConsumerSettings | null) => ({
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: 345_600,
    producers: [],
    consumer: own === null ? null : { type: "worker" as const, worker: "driver", settings: own },
  });
  return {
    queues: {
      bench: queue(consumer === null ? null : settings),
      "bench-now": queue({ ...settings, maxBatchSize: 10, maxBatchTimeoutSeconds: 0 }),
    },
  };
}

/** A Worker of the lab as workerd takes it. */
export async function bundle(worker: LabWorker | "floor"): Promise<{ source: string; sourceMap: SourceMap }> {
  const { outputFiles } = await build({
    entryPoints: [`${SOURCES}${worker}.ts`],
    outfile: `${SOURCES}${worker}.js`,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    sourcemap: "external",
    sourcesContent: false,
    external: ["cloudflare:*"],
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text;
  const source = textOf(".js");
  const map = textOf(".js.map");
  if (source === undefined || map === undefined) throw new Error(`esbuild produced nothing for ${worker}`);
  return { source, sourceMap: new SourceMap(JSON.parse(map)) };
}
