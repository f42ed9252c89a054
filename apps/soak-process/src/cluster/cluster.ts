import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import {
  startWorkerd,
  type WorkerdProcess,
  type WorkerdService,
} from "@sluice/protocol/test/workerd-process";
import type { BatchReport, SendAnswer, SendOrder, Verdict } from "../../workers/wire.ts";
import { type QueueFigures, queueFigures } from "./queue-figures.ts";
import { BROKER, TOKEN } from "./services.ts";
import { isRunning } from "./workerd-process.ts";

interface ClusterOptions {
  readonly services: readonly WorkerdService[];
  /** Folder for all state. A later cluster on the same folder goes on with it. */
  readonly persistDir: string;
  /** Called with each batch that reaches a handler. The handler does what the verdict says. */
  handle(report: BatchReport): Promise<Verdict>;
}

/** One life of the whole system: one plain workerd with brokers, producers and consumers in it. */
export class Cluster {
  readonly #workerd: WorkerdProcess;
  readonly #ledger: Server;

  /** Resolves when requests are answered. */
  static async start({ services, persistDir, handle }: ClusterOptions): Promise<Cluster> {
    const ledger = await listening(handle);
    const external = { ledger: `127.0.0.1:${(ledger.address() as AddressInfo).port}` };
    try {
      return new Cluster(await startWorkerd(services, { objects: persistDir, external }), ledger);
    } catch (error) {
      ledger.close();
      throw error;
    }
  }

  private constructor(workerd: WorkerdProcess, ledger: Server) {
    this.#workerd = workerd;
    this.#ledger = ledger;
  }

  get pid(): number {
    return this.#workerd.pid;
  }

  /** Everything that workerd has printed. */
  get lines(): readonly string[] {
    return this.#workerd.lines;
  }

  /** Sends a request to one of its Workers. Rejects unless the answer is a 2xx, and if the process dies before it. */
  async request(worker: string, path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.#workerd.fetch(path, init, worker);
    if (!response.ok) throw new Error(`${worker} answered ${response.status}: ${await response.text()}`);
    return response;
  }

  /** Sends messages through a producer. */
  async send(order: SendOrder, producer = "producer"): Promise<SendAnswer> {
    const response = await this.request(producer, "/", { method: "POST", body: JSON.stringify(order) });
    return (await response.json()) as SendAnswer;
  }

  /** Every queue as the admin API shows it. */
  queues(): Promise<QueueFigures[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    return queueFigures((path) => this.request(BROKER, path, { headers }));
  }

  /** Whether workerd has ended, for any reason. */
  async hasEnded(): Promise<boolean> {
    return !(await isRunning(this.#workerd.pid));
  }

  /** kill -9 of workerd, at once. Resolves when it has ended. */
  async kill(): Promise<void> {
    await this.#workerd[Symbol.asyncDispose]();
    this.#ledger.closeAllConnections();
    this.#ledger.close();
  }
}

/** Starts the server to which the consumer Workers report: it calls `handle`, but not for a caller that is gone. */
async function listening(handle: ClusterOptions["handle"]): Promise<Server> {
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
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}
