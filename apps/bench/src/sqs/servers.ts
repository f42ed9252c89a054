import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Child, startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import { SLUICE } from "sluice/test/running";
import { accepts } from "../process/accepts.ts";
import { installProgram } from "../systems/debian-packages.ts";
import { installNpmPackages, PEERS_FOLDER } from "../systems/npm-packages.ts";
import type { InstallOptions, System } from "../systems/system.ts";

/** Port and folder of a server. */
export interface Place {
  readonly port: number;
  readonly folder: string;
}

/** A server that speaks SQS. */
export interface SqsServer {
  readonly name: string;
  readonly acknowledged: System["acknowledged"];
  install(options: InstallOptions): Promise<void>;
  start(place: Place): Promise<{ readonly child: Child; readonly endpoint: string }>;
}

/** `sluice serve` in an empty folder. */
export const sluiceServe: SqsServer = {
  name: "Sluice (sluice serve)",
  acknowledged: "disk",
  install: async () => {},
  async start({ port, folder }) {
    const child = startChild(process.execPath, [SLUICE, "serve", "--port", `${port}`], {
      cwd: folder,
      env: environmentIn(folder),
    });
    await started(child, async () => (await fetch(`http://127.0.0.1:${port}/__sluice/health`)).ok);
    return { child, endpoint: `http://127.0.0.1:${port}/__sluice/aws` };
  },
};

async function listening(child: Child, port: number) {
  await started(child, () => accepts(port));
  return { child, endpoint: `http://127.0.0.1:${port}/` };
}

/** Waits until a server is ready. Stops it and rejects if it is not ready in time. */
async function started(child: Child, isReady: () => Promise<boolean>): Promise<void> {
  try {
    await child.ready(isReady);
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** fauxqs in memory. It is started by its API, since its own command writes a log line per request. */
export const fauxqs: SqsServer = fauxqsServer("fauxqs", "memory", () => "");
/** fauxqs with its SQLite file, in WAL mode: `node:sqlite` syncs each commit. */
export const fauxqsOnDisk: SqsServer = fauxqsServer(
  "fauxqs (dataDir)",
  "disk",
  (folder) => `dataDir: ${JSON.stringify(path.join(folder, "data"))}`,
);

function fauxqsServer(
  name: string,
  acknowledged: SqsServer["acknowledged"],
  options: (folder: string) => string,
): SqsServer {
  return {
    name,
    acknowledged,
    install: (install) => installNpmPackages(["fauxqs"], install),
    async start({ port, folder }) {
      const module = pathToFileURL(path.join(PEERS_FOLDER, "node_modules/fauxqs/dist/app.js")).href;
      const script = `
        import { startFauxqs } from ${JSON.stringify(module)};
        await startFauxqs({ logger: false, host: "127.0.0.1", port: ${port}, ${options(folder)} });
      `;
      const args = ["--no-warnings", "--input-type=module", "--eval", script];
      const child = startChild(process.execPath, args);
      return listening(child, port);
    },
  };
}

/** ElasticMQ of 2013, the version on npm. It only has the Query protocol, which today's SDK does not have. */
export const elasticmq: SqsServer = {
  name: "ElasticMQ 0.7.1",
  acknowledged: "memory",
  async install(options) {
    await installProgram("java", "default-jre-headless", options);
    await installNpmPackages(["elasticmq"], options);
  },
  async start({ port, folder }) {
    const child = startChild(
      "java",
      [
        // This version was written for Java 6.
        ...["java.util.regex", "java.lang"].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
        `-Drest-sqs.bind-port=${port}`,
        `-Dnode-address.port=${port}`,
        "-jar",
        path.join(PEERS_FOLDER, "node_modules/elasticmq/elasticmq-server-0.7.1.jar"),
      ],
      { cwd: folder },
    );
    return listening(child, port);
  },
};
