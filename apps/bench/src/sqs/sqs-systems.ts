import getPort from "get-port";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { RunningSystem, System } from "../systems/system.ts";
import { openJson, openQuery, openSdk } from "./protocols.ts";
import { prepareSqs, runSqs, type SqsRun } from "./run-sqs.ts";
import { elasticmq, fauxqs, fauxqsOnDisk, type SqsServer, sluiceServe } from "./servers.ts";
import type { SqsWay } from "./sqs-cases.ts";
import { type OpenProtocol, type SqsClient, sqsClient } from "./sqs-client.ts";

/** A server with one kind of client. */
type SqsSystem = System<SqsWay>;

/** Descriptions of clients by their short names. */
const HOW: Readonly<Record<string, string>> = {
  JSON: "AWS JSON 1.0 over bare HTTP (undici)",
  Query: "Query protocol over bare HTTP (undici)",
  SDK: "@aws-sdk/client-sqs, signing, checking MD5",
};

/** Systems in the order of the tables: bare HTTP in the newest protocol of a server, in the older one, AWS's SDK. */
export const SQS_SYSTEMS: readonly SqsSystem[] = [
  sqsSystem("sluice-json", sluiceServe, "JSON", openJson),
  sqsSystem("fauxqs-json", fauxqs, "JSON", openJson),
  sqsSystem("fauxqs-disk-json", fauxqsOnDisk, "JSON", openJson),
  sqsSystem("sluice-query", sluiceServe, "Query", openQuery),
  sqsSystem("elasticmq-query", elasticmq, "Query", openQuery),
  sqsSystem("sluice-sdk", sluiceServe, "SDK", openSdk),
  sqsSystem("fauxqs-sdk", fauxqs, "SDK", openSdk),
];

function sqsSystem(id: string, server: SqsServer, how: string, open: OpenProtocol): SqsSystem {
  return {
    id,
    name: `${server.name}, ${how}`,
    acknowledged: server.acknowledged,
    clockMs: 0,
    how: HOW[how] ?? how,
    install: (options) => server.install(options),
    start: () => start(id, server, open),
  };
}

async function start(id: string, server: SqsServer, open: OpenProtocol): Promise<RunningSystem<SqsWay>> {
  const folder = await temporaryFolder(`sqs-${id}`);
  try {
    const { child, endpoint } = await server.start({ port: await getPort(), folder });
    const client = sqsClient(open(endpoint));
    const queueUrlFor = caseQueues(client);
    let prepared: SqsRun | null = null;
    return {
      pids: [child.pid],
      async prepare(way, messages) {
        prepared = await prepareSqs(client, await queueUrlFor(way), way, messages);
      },
      async run(way, messages) {
        if (prepared === null) throw new Error("a run was not prepared");
        const run = prepared;
        prepared = null;
        return runSqs(run, way, messages);
      },
      async stop() {
        try {
          await client.close();
        } finally {
          await child.stop();
          await removeFolder(folder);
        }
      },
    };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

/**
 * Creates one queue for all runs of a case, and deletes that of the case before. A queue for each run would be measured
 * in its first seconds, in which the files of some servers still grow.
 */
export function caseQueues(client: SqsClient): (way: SqsWay) => Promise<string> {
  let queue: { readonly way: SqsWay; readonly url: string } | null = null;
  return async (way) => {
    if (queue?.way === way) return queue.url;
    if (queue !== null) await client.deleteQueue(queue.url);
    queue = { way, url: await client.createQueue(`bench-${way}`) };
    return queue.url;
  };
}
