import type { QueueTopology } from "@sluice/protocol";
import type { Front } from "../front/front.ts";
import type { Workerd } from "../workerd-process.ts";
import type { Broker } from "./contract.ts";
import { letHeapGrow } from "./heap.ts";
import { closeInspector, openInspector } from "./inspector.ts";
import { loadBroker } from "./load-modules.ts";
import { startServer } from "./server.ts";

export interface AloneOptions {
  readonly host: string;
  readonly port: number;
  /** `null` for none. */
  readonly inspectorPort: number | null;
  /** Folder of all Durable Objects. */
  readonly objects: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  readonly topology: QueueTopology;
  readonly vars: Readonly<Record<string, unknown>>;
}

/** What runs, as `workerd-process.ts` has it of another process. */
export interface Alone {
  readonly process: Pick<Workerd, "ended" | "kill">;
  readonly front: Front;
}

/**
 * Runs the broker in this process, where no Worker is there to run.
 *
 * @throws CliError when a port is in use.
 */
export async function runAlone(options: AloneOptions): Promise<Alone> {
  const { host, port, inspectorPort, objects, worker, topology, vars } = options;
  letHeapGrow();
  if (inspectorPort !== null) openInspector(inspectorPort);
  const { open } = await loadBroker();
  const broker = open({ folder: objects, worker, topology, vars });
  try {
    const front = await startServer({ host, port, broker });
    return { process: endedByKill(broker, front), front };
  } catch (error) {
    broker.close();
    closeInspector();
    throw error;
  }
}

function endedByKill(broker: Broker, front: Front): Alone["process"] {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  return {
    ended,
    kill: () => {
      // Receives that wait for messages are given up first: a broker that ends under them fails each, and says so.
      front.destroy();
      setImmediate(() => {
        broker.close();
        closeInspector();
        resolve(0);
      });
    },
  };
}
