import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import {
  startWorkerd,
  type WorkerdProcess,
  type WorkerdService,
} from "@sluice/protocol/test/workerd-process";
import { ROLLOUT_PATH, type Rollout, type VersionName } from "../../workers/rollouts/wire.ts";
import type { BatchReport, SendAnswer, SendOrder, Verdict } from "../../workers/wire.ts";
import { type QueueFigures, queueFigures } from "../cluster/queue-figures.ts";
import type { Version } from "./versions.ts";

/** The broker's secret, as a deployment has one. */
const TOKEN = "soak";

export interface DeploymentOptions {
  readonly versions: Readonly<Record<VersionName, Version>>;
  /** The bundled module that makes each object one of a version: `workers/rollouts/broker.ts`. */
  readonly broker: string;
  readonly persistDir: string;
  /** How far the rollout has come. */
  readonly rollout: Rollout;
  /** Called with each batch that reaches a handler; what it answers is carried out. */
  handle(report: BatchReport): Promise<Verdict>;
}

/** One start of plain workerd with two deployed versions of broker, producer and consumer, side by side. */
export class Deployment {
  readonly #workerd: WorkerdProcess;
  readonly #ledger: Server;

  /** Resolves when requests are answered. */
  static async start(options: DeploymentOptions): Promise<Deployment> {
    const ledger = await listening(options.handle);
    const external = { ledger: `127.0.0.1:${(ledger.address() as AddressInfo).port}` };
    try {
      const workerd = await startWorkerd(servicesOf(options), { objects: options.persistDir, external });
      return new Deployment(workerd, ledger);
    } catch (error) {
      ledger.close();
      throw error;
    }
  }

  private constructor(workerd: WorkerdProcess, ledger: Server) {
    this.#workerd = workerd;
    this.#ledger = ledger;
  }

  /** Everything that was printed. */
  get lines(): readonly string[] {
    return this.#workerd.lines;
  }

  /** Sends through a version of the producer. Rejects when the process does not live to answer. */
  async send(order: SendOrder, version: VersionName): Promise<SendAnswer> {
    const init = { method: "POST", body: JSON.stringify(order) };
    const response = await this.#workerd.fetch("/", init, `${version}-producer`);
    if (!response.ok) throw new Error(`the producer answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as SendAnswer;
  }

  /**
   * Goes on to another share. Every object whose version changes has been reset then, and no delivery of an object
   * that was reset can reach the ledger any more.
   *
   * @returns how many objects were reset.
   */
  async roll(rollout: Rollout): Promise<number> {
    const init = { method: "POST", body: JSON.stringify(rollout) };
    const response = await this.#workerd.fetch(ROLLOUT_PATH, init, "sluice");
    if (!response.ok) throw new Error(`the rollout answered ${response.status}: ${await response.text()}`);
    const reset = (await response.json()) as number;
    await Promise.all(
      ["old-consumer", "new-consumer"].map(async (name) =>
        (await this.#workerd.fetch("/", {}, name)).arrayBuffer(),
      ),
    );
    return reset;
  }

  /** Every queue as the admin API shows it. */
  queues(): Promise<QueueFigures[]> {
    return queueFigures((path) =>
      this.#workerd.fetch(path, { headers: { authorization: `Bearer ${TOKEN}` } }, "sluice"),
    );
  }

  /** kill -9 of workerd. Resolves when it has ended. */
  async kill(): Promise<void> {
    await this.#workerd[Symbol.asyncDispose]();
    this.#ledger.closeAllConnections();
    this.#ledger.close();
  }
}

/** Answers for the ledger's side of a process. What comes of one that has gone is told to nobody. */
async function listening(handle: DeploymentOptions["handle"]): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url === "/reached") return void response.end();
    try {
      const report = JSON.parse(await text(request)) as BatchReport;
      // A caller that was reset has hung up; that is known a turn of the event loop later.
      await turn();
      if (request.socket.destroyed) return;
      response.end(JSON.stringify(await handle(report)));
    } catch (error) {
      response.writeHead(503).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function servicesOf({ versions, broker, rollout }: DeploymentOptions): WorkerdService[] {
  const { old: before, new: after } = versions;
  const json = (name: string, value: unknown) =>
    `(name = "${name}", json = ${JSON.stringify(JSON.stringify(value))})`;
  const consumer = (version: VersionName) =>
    `(name = "${version.toUpperCase()}_CONSUMER", service = (name = "${version}-consumer", entrypoint = "SluiceQueueConsumer"))`;
  return [
    {
      ...after.broker,
      source: broker,
      modules: { "old-broker": before.broker.source, "new-broker": after.broker.source },
      data: { ...before.broker.data, ...after.broker.data },
      bindings: [
        `(name = "SLUICE_QUEUES", durableObjectNamespace = (className = "QueueBroker"))`,
        `(name = "SLUICE_DIRECTORY", durableObjectNamespace = (className = "Directory"))`,
        `(name = "SLUICE_API_TOKENS", text = "${TOKEN}")`,
        consumer("old"),
        consumer("new"),
        json("ROLLOUT", rollout),
      ].join(", "),
    },
    { ...before.producer, name: "old-producer" },
    { ...after.producer, name: "new-producer" },
    { ...before.consumer, name: "old-consumer" },
    { ...after.consumer, name: "new-consumer" },
  ];
}
