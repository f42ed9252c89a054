import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { BatchReport, SendAnswer, SendOrder, Verdict } from "../../workers/wire.ts";
import type { WorkerSources } from "./bundle-workers.ts";
import { type QueueFigures, queueFigures } from "./queue-figures.ts";
import { TOPOLOGY } from "./topology.ts";
import { isRunning, untilGone, workerdChildren } from "./workerd-process.ts";

const COMPATIBILITY_DATE = "2026-11-01";

export interface ClusterOptions {
  readonly sources: WorkerSources;
  /** Where everything is kept. Another cluster started on it goes on with what is there. */
  readonly persistDir: string;
  /** Called with each batch that reaches the handler; what it answers is carried out. */
  handle(report: BatchReport): Promise<Verdict>;
}

/** One start of the whole system: one workerd with a broker, a producer and a consumer in it. */
export class Cluster {
  /** Lines that the Workers and workerd have printed. */
  readonly lines: string[] = [];
  readonly #miniflare: Miniflare;
  #url = "";
  #pids: readonly number[] = [];

  /** Starts wait for one another: a workerd is known as the cluster's by not having been there before. */
  static #latestStart: Promise<unknown> = Promise.resolve();

  /** Resolves when requests are answered. */
  static start(options: ClusterOptions): Promise<Cluster> {
    const started = Cluster.#latestStart.then(async () => {
      const cluster = new Cluster(options);
      await cluster.#ready();
      return cluster;
    });
    Cluster.#latestStart = started.catch(() => {});
    return started;
  }

  private constructor(options: ClusterOptions) {
    this.#miniflare = new Miniflare(optionsOf(options, (line) => this.lines.push(line)));
  }

  /** Sends messages through the producer. Rejects when the process does not live to answer. */
  async send(order: SendOrder): Promise<SendAnswer> {
    const response = await fetch(this.#url, { method: "POST", body: JSON.stringify(order) });
    if (!response.ok) throw new Error(`the producer answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as SendAnswer;
  }

  /** Every queue as the admin API shows it. */
  queues(): Promise<QueueFigures[]> {
    return queueFigures((path) => fetch(new URL(path, this.#url)));
  }

  /**
   * Moves the clock of every queue that can be opened. Asks the queues, not the directory: that may be what is
   * damaged.
   */
  async advanceClock(ms: number): Promise<void> {
    const response = await fetch(new URL(`/__soak/clock?ms=${ms}`, this.#url), { method: "POST" });
    if (!response.ok) throw new Error(`the clock answered ${response.status}: ${await response.text()}`);
  }

  /** Whether workerd has ended, for whatever reason. */
  async hasEnded(): Promise<boolean> {
    return !(await Promise.all(this.#pids.map(isRunning))).every(Boolean);
  }

  /** kill -9 of workerd, at once. */
  kill(): void {
    for (const pid of this.#pids) process.kill(pid, "SIGKILL");
  }

  /** After `kill`: resolves when nothing of this epoch is left. */
  async ended(): Promise<void> {
    await untilGone(this.#pids);
    await this.#miniflare.dispose();
  }

  /** SIGSTOP: the process gets no time until `thaw`. */
  freeze(): void {
    for (const pid of this.#pids) process.kill(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of this.#pids) process.kill(pid, "SIGCONT");
  }

  async #ready(): Promise<void> {
    const known = new Set(await workerdChildren());
    this.#url = (await this.#miniflare.ready).href;
    this.#pids = await workerdChildren(known);
    if (this.#pids.length === 0) throw new Error("no workerd was started");
  }
}

function optionsOf({ sources, persistDir, handle }: ClusterOptions, print: (line: string) => void) {
  const worker = (name: "producer" | "broker" | "consumer") => ({
    name,
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ type: "ESModule", path: `${name}.js`, contents: sources[name] }],
  });
  const answer = async (request: Request) =>
    Response.json(await handle((await request.json()) as BatchReport));
  return convertV4MiniflareOptions({
    resourcePersistencePath: persistDir,
    handleStructuredLogs: ({ message }: { message: string }) => print(message),
    workers: [
      {
        ...worker("producer"),
        bindings: { QUEUE_NAMES: Object.keys(TOPOLOGY.queues) },
        durableObjects: {
          SLUICE_QUEUES: { className: "QueueBroker", scriptName: "broker", useSQLite: true },
        },
        serviceBindings: { BROKER: "broker" },
      },
      {
        ...worker("broker"),
        bindings: { TOPOLOGY, SLUICE_ENV: "development" },
        durableObjects: {
          SLUICE_QUEUES: { className: "QueueBroker", useSQLite: true },
          SLUICE_DIRECTORY: { className: "Directory", useSQLite: true },
        },
        serviceBindings: { CONSUMER: { name: "consumer", entrypoint: "SluiceQueueConsumer" } },
      },
      { ...worker("consumer"), serviceBindings: { LEDGER: answer } },
    ],
  } as unknown as Parameters<typeof convertV4MiniflareOptions>[0]);
}
