import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import { createQueueRuntime } from "@sluice/testing";
import getPort from "get-port";
import { unpacked } from "sluice/test/pack";
import { SLUICE } from "sluice/test/running";
import { type Ask, bindingOf, queueOf, type Settled, settledBy } from "../../workers/orders/settled.ts";
import { RETRY_DELAY_SECONDS } from "./order-table.ts";

/** Runs programs in a project. Resolves to the settlements of the two messages of each program. */
export type Host = (folder: string, programs: readonly string[]) => Promise<Settled[][]>;

const CONFORMANCE = resolve(import.meta.dirname, "../..");
const PROJECT = join(CONFORMANCE, "workers/orders");
const INSTALLED = [
  "@cloudflare/vite-plugin",
  "@cloudflare/vitest-plugin",
  "@sluice/testing",
  "vite",
  "vitest",
  "wrangler",
];

/** Programs that run a user's Workers on the broker. */
export const HOSTS: Readonly<Record<string, Host>> = {
  "sluice dev": (folder, programs) => served(folder, programs, [SLUICE, "dev", "--inspector-port", "0"]),
  "vite dev": (folder, programs) => {
    // The package as published, since Vite takes long for the broker's sources.
    unpacked(realpathSync(join(CONFORMANCE, "node_modules/@sluice/vite")), "@sluice/vite", folder);
    return served(folder, programs, [join(folder, "node_modules/vite/bin/vite.js"), "dev", "--strictPort"]);
  },
  "@sluice/testing": async (folder, programs) => {
    const queues = await createQueueRuntime({ workers: [folder], log: () => {} });
    try {
      return await settledBy((path, init) => queues.fetch(path, init), programs);
    } finally {
      await queues[Symbol.asyncDispose]();
    }
  },
  "@cloudflare/vitest-plugin": async (folder, programs) => {
    writeFileSync(join(folder, "programs.json"), JSON.stringify(programs));
    const vitest = join(folder, "node_modules/vitest/vitest.mjs");
    const isModule = existsSync(join(folder, "cloudflare.config.ts"));
    const config = isModule ? "vitest.module.config.ts" : "vitest.config.ts";
    const args = [vitest, "run", "--config", config, "--reporter=json", "--outputFile=results.json"];
    await promisify(execFile)(process.execPath, args, { cwd: folder, env: environmentIn(folder) });
    const { testResults } = JSON.parse(readFileSync(join(folder, "results.json"), "utf8"));
    return testResults[0].assertionResults[0].meta.settled;
  },
};

/** Kinds of a Worker's configuration, by the names of their files. */
export const CONFIGURATIONS = ["wrangler.jsonc", "cloudflare.config.ts"] as const;
type Configuration = (typeof CONFIGURATIONS)[number];

/** Runs programs by a host, in a new project with a configuration of this kind. */
export async function runBy(
  host: Host,
  configuration: Configuration,
  programs: readonly string[],
): Promise<Settled[][]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "conformance-orders-")));
  try {
    writeProject(folder, configuration, programs.length);
    return await host(folder, programs);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Writes an ordinary project with a queue for each program, the same for every host. */
function writeProject(folder: string, configuration: Configuration, count: number): void {
  for (const file of readdirSync(PROJECT)) copyFileSync(join(PROJECT, file), join(folder, file));
  writeFileSync(join(folder, configuration), CONTENTS[configuration](count));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  for (const name of INSTALLED) {
    const target = join(folder, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(realpathSync(join(CONFORMANCE, "node_modules", name)), target);
  }
}

const COMPATIBILITY_DATE = "2026-09-01";

/** Makes the text of each kind of configuration, for a number of programs. All kinds configure the same. */
const CONTENTS: Readonly<Record<Configuration, (count: number) => string>> = {
  "wrangler.jsonc": (count) => {
    const numbers = Array.from({ length: count }, (_, i) => i);
    const config = {
      name: "orders",
      main: "index.ts",
      compatibility_date: COMPATIBILITY_DATE,
      queues: {
        producers: numbers.map((i) => ({ binding: bindingOf(i), queue: queueOf(i) })),
        consumers: numbers.map((i) => ({
          queue: queueOf(i),
          max_batch_size: 2,
          max_batch_timeout: 60,
          retry_delay: RETRY_DELAY_SECONDS,
        })),
      },
    };
    return JSON.stringify(config, null, 2);
  },
  "cloudflare.config.ts": (count) => `
    import * as entrypoint from "./index.ts" with { type: "cf-worker" };
    import { bindingOf, queueOf } from "./settled.ts";

    const numbers: number[] = Array.from({ length: ${count} }, (_, i) => i);
    export default {
      worker: {
        name: "orders",
        entrypoint,
        compatibilityDate: "${COMPATIBILITY_DATE}",
        env: Object.fromEntries(numbers.map((i) => [bindingOf(i), { type: "queue", name: queueOf(i) }])),
        triggers: numbers.map((i) => ({
          type: "queue",
          name: queueOf(i),
          maxBatchSize: 2,
          maxBatchTimeout: 60,
          retryDelay: ${RETRY_DELAY_SECONDS},
        })),
      },
    };
  `,
};

/** Runs programs in the process of a dev server. */
async function served(folder: string, programs: readonly string[], args: readonly string[]) {
  const port = await getPort();
  const url = `http://localhost:${port}`;
  const ask: Ask = (path, init) => fetch(`${url}${path}`, init);
  const child = startChild(process.execPath, [...args, "--port", `${port}`], {
    cwd: folder,
    env: environmentIn(folder),
  });
  try {
    await child.ready(async () => (await ask("/__sluice/health")).ok);
    return await settledBy(ask, programs);
  } catch (error) {
    throw new Error(`${String(error)}\n${stripVTControlCharacters(child.output)}`);
  } finally {
    await child.stop("SIGINT");
  }
}
