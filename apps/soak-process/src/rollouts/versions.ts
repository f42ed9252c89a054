import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import type { WorkerdService } from "@sluice/protocol/test/workerd-process";
import { uploaded } from "sluice/test/uploaded";
import type { Rollout, VersionName } from "../../workers/rollouts/wire.ts";
import { BROKER, BROKER_BINDINGS, json } from "../cluster/services.ts";
import { PRODUCED_QUEUES, settingsOf, TOPOLOGY } from "../cluster/topology.ts";

const WORKERS = fileURLToPath(new URL("../../workers/", import.meta.url));
const CHECKOUT = fileURLToPath(new URL("../../../../", import.meta.url));

/** Workers of a deployment, each with its bindings. */
export interface Version {
  readonly broker: WorkerdService;
  readonly producer: WorkerdService;
  readonly consumer: WorkerdService;
}

export type Versions = Readonly<Record<VersionName, Version>>;

/** Makes the services of two versions side by side: each object of the broker runs one of them. */
export function servicesOf(versions: Versions, broker: string, rollout: Rollout): WorkerdService[] {
  const { old: before, new: after } = versions;
  const consumer = (version: VersionName) => {
    const service = `(name = "${version}-consumer", entrypoint = "SluiceQueueConsumer")`;
    return `(name = "${version.toUpperCase()}_CONSUMER", service = ${service})`;
  };
  return [
    {
      ...after.broker,
      name: BROKER,
      source: broker,
      modules: { "old-broker": before.broker.source, "new-broker": after.broker.source },
      data: { ...before.broker.data, ...after.broker.data },
      bindings: [...BROKER_BINDINGS, consumer("old"), consumer("new"), json("ROLLOUT", rollout)].join(", "),
    },
    { ...before.producer, name: "old-producer" },
    { ...after.producer, name: "new-producer" },
    { ...before.consumer, name: "old-consumer" },
    { ...after.consumer, name: "new-consumer" },
  ];
}

/**
 * Builds a project that sends and consumes, by the command of a checkout of this repository, and bundles the Workers
 * that its deployment would upload.
 *
 * @param checkout root of the checkout. Default: this one.
 */
export async function versionOf(checkout: string = CHECKOUT): Promise<Version> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "sluice-rollout-")));
  try {
    writeProject(folder);
    const env = environmentIn(folder);
    const main = path.join(checkout, "packages/cli/src/main.ts");
    const build = startChild(process.execPath, [main, "build", "producer", "consumer"], { cwd: folder, env });
    await build.whenEnded();
    if (build.ended?.code !== 0) throw new Error(build.output);
    const [broker, producer, consumer] = await Promise.all([
      uploaded("sluice", folder, env),
      uploaded("producer", folder, env),
      uploaded("consumer", folder, env),
    ]);
    return { broker, producer, consumer };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeProject(folder: string): void {
  const common = { main: "index.ts", compatibility_date: "2026-11-01" };
  const producers = PRODUCED_QUEUES.map((queue) => ({ binding: queue, queue }));
  writeWorker(folder, "producer", { ...common, queues: { producers } });
  const consumers = Object.keys(TOPOLOGY.queues).map((queue) => {
    const settings = settingsOf(queue);
    return {
      queue,
      max_batch_size: settings.maxBatchSize,
      max_batch_timeout: settings.maxBatchTimeoutSeconds,
      max_retries: settings.maxRetries,
      retry_delay: settings.retryDelaySeconds,
      ...(settings.maxConcurrency === null ? {} : { max_concurrency: settings.maxConcurrency }),
      ...(settings.deadLetterQueue === null ? {} : { dead_letter_queue: settings.deadLetterQueue }),
    };
  });
  const services = [{ binding: "LEDGER", service: "ledger" }];
  writeWorker(folder, "consumer", { ...common, services, queues: { consumers } });
}

function writeWorker(folder: string, name: string, config: object): void {
  const own = path.join(folder, name);
  mkdirSync(own);
  cpSync(path.join(WORKERS, "ordinary", `${name}.ts`), path.join(own, "index.ts"));
  writeFileSync(path.join(own, "wrangler.json"), JSON.stringify({ name, ...config }));
}
