import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import getPort from "@sluice/protocol/test/free-port";
import { type BrokerOptions, BrokerProcess } from "./broker-process.ts";
import { buildCommand, type Command } from "./command.ts";

/** Options that may differ between two starts of a broker. */
export type StartOptions = Omit<BrokerOptions, "main" | "port" | "folder" | "persistDir">;

/** A broker with its own port and data folder, which can be started any number of times. */
export interface LabBroker {
  readonly persistDir: string;
  start(options?: StartOptions): Promise<BrokerProcess>;
  /** Starts it and kills it `ms` later, whether it answers by then or not. */
  startInVain(ms: number, options?: StartOptions): Promise<BrokerProcess>;
}

/** The built command, and a folder in which it runs, for one run. */
export class BrokerLab {
  /** Working folder of the commands; empty at first. */
  readonly folder: string;
  readonly #command: Command;
  readonly #brokers = new Set<BrokerProcess>();

  static async open(): Promise<BrokerLab> {
    const [command, folder] = await Promise.all([
      buildCommand(),
      mkdtemp(path.join(tmpdir(), "sluice-soak-process-")),
    ]);
    return new BrokerLab(command, folder);
  }

  private constructor(command: Command, folder: string) {
    this.#command = command;
    this.folder = folder;
  }

  /** Entry of the command, for Node.js. */
  get main(): string {
    return this.#command.main;
  }

  async broker(persistDir = path.join(this.folder, "state")): Promise<LabBroker> {
    const { main, folder } = this;
    const fixed = { main, folder, port: await getPort(), persistDir };
    return {
      persistDir,
      start: async (options) => {
        const broker = await BrokerProcess.start({ ...fixed, ...options });
        this.#brokers.add(broker);
        return broker;
      },
      startInVain: (ms, options) => BrokerProcess.startInVain({ ...fixed, ...options }, ms),
    };
  }

  /** Kills every broker that runs, and deletes everything. */
  async close(): Promise<void> {
    for (const broker of this.#brokers) if (broker.ended === null) await broker.kill();
    await rm(this.folder, { recursive: true, force: true });
    await this.#command.remove();
  }
}
