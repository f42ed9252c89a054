import type { HeldClock } from "@sluice/broker/held-clock";
import type { QueueTopology } from "@sluice/protocol";
import type { Reserve, RoomListener } from "../data/reserve.ts";
import type { Ingress } from "../http/ingress.ts";
import type { Broker } from "../node/contract.ts";
import { loadBroker } from "../node/load-modules.ts";
import { pageArchive } from "../page.ts";
import type { Runtime } from "../watchdog/keep-running.ts";
import { letHeapGrow } from "./heap.ts";
import { closeInspector, openInspector } from "./inspector.ts";
import { startServer } from "./server.ts";

interface StandaloneOptions {
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
  /** Reserve on the disk of the objects. */
  readonly reserve: Reserve;
  /** Clock that deadlines are measured by. */
  readonly clock: HeldClock;
  /** Called after the checks that can refuse a start, before the broker opens anything. */
  starting(): void;
}

/** Broker that runs in this process, with its ingress. */
interface Standalone {
  readonly process: Runtime;
  readonly ingress: Ingress;
  readonly room: RoomListener;
  /** Always `true`: only the broker's code runs here. */
  answers(): Promise<boolean>;
}

/**
 * Runs the broker in this process, without Workers.
 *
 * @throws CliError when a port is in use.
 */
export async function runStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { host, port, inspectorPort, objects, worker, topology, vars, reserve, clock } = options;
  letHeapGrow();
  if (inspectorPort !== null) openInspector(inspectorPort);
  const [{ open }, page] = await Promise.all([loadBroker(), pageArchive()]);
  options.starting();
  const broker = open({ folder: objects, worker, topology, vars, disk: reserve, clock, page, searchDocs });
  try {
    const ingress = await startServer({ host, port, broker });
    return { process: endedByKill(broker, ingress), ingress, room: broker.room, answers: async () => true };
  } catch (error) {
    broker.close();
    closeInspector();
    throw error;
  }
}

async function searchDocs(query: string) {
  return (await import("../docs/search-docs.ts")).searchDocs(query);
}

function endedByKill(broker: Broker, ingress: Ingress): Standalone["process"] {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  return {
    ended,
    kill: () => {
      // First ends receives that wait for messages: the end of the broker would fail each, with a line in the log.
      ingress.destroy();
      setImmediate(() => {
        broker.close();
        closeInspector();
        resolve(0);
      });
    },
  };
}
