import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Random } from "@sluice/harness/random";
import type { WorkerdService } from "@sluice/protocol/test/workerd-process";
import type { BatchReport, SendAnswer, SendOrder, Verdict } from "../../workers/wire.ts";
import { Cluster } from "../cluster/cluster.ts";
import { clusterServices } from "../cluster/services.ts";
import { DeliveryLedger, type Summary } from "../ledger/delivery-ledger.ts";
import { damageLines, drained, type Scenario } from "../scenario/scenario.ts";
import { Handler } from "./handler.ts";
import { produce } from "./producers.ts";

/** Workers on workerd with their load and their ledger, over any number of epochs. */
export class WorkersScenario implements Scenario<Summary> {
  readonly ledger = new DeliveryLedger();
  readonly random: Random;
  readonly persistDir: string;
  readonly #services: readonly WorkerdService[];
  readonly #handler: Handler;
  #cluster: Cluster | null = null;
  #producing: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;
  readonly #earlierLines: string[] = [];

  /**
   * @param persistDir an empty folder on a disk that will be full, so that objects may be reset. Default: a new folder
   *   on an ordinary disk. `close` deletes either.
   */
  static async open(seed: number, persistDir?: string): Promise<WorkersScenario> {
    const scenario = new WorkersScenario(seed, await clusterServices(), persistDir ?? (await newFolder()));
    scenario.ledger.objectsMayReset = persistDir !== undefined;
    return scenario;
  }

  protected constructor(seed: number, services: readonly WorkerdService[], persistDir: string) {
    this.#services = services;
    this.persistDir = persistDir;
    this.random = new Random(seed);
    this.#handler = new Handler(this.ledger, this.random.fork());
  }

  /** The epoch that is running. */
  get cluster(): Cluster {
    if (this.#cluster === null) throw new Error("nothing is running");
    return this.#cluster;
  }

  get refusedCount(): number {
    return this.ledger.messages.filter(({ outcome }) => outcome === "refused").length;
  }

  unexpectedLines(): string[] {
    return damageLines([...this.#earlierLines, ...(this.#cluster?.lines ?? [])]);
  }

  hasEnded(): Promise<boolean> {
    return this.cluster.hasEnded();
  }

  async start(): Promise<void> {
    let started: Cluster | null = null;
    this.#cluster = started = await Cluster.start({
      services: this.services(),
      persistDir: this.persistDir,
      handle: async (report) => {
        // `started` is still null for messages of earlier epochs that are delivered during the start.
        if (started !== null && started !== this.#cluster) throw new Error("this epoch has ended");
        return this.handle(report);
      },
    });
  }

  /** Starts sending at random, until `drain` or the end of this epoch. */
  load(): void {
    const stop = new AbortController();
    const cluster = { send: (order: SendOrder) => this.send(order) };
    this.#producing = { stop, ended: produce(cluster, this.ledger, this.random.fork(), stop.signal) };
  }

  /** kill -9, in the middle of the load. */
  async kill(): Promise<void> {
    const { cluster } = this;
    const killed = cluster.kill();
    this.#cluster = null;
    this.ledger.epochEnded();
    await killed;
    await this.#stopProducing();
    this.#earlierLines.push(...cluster.lines);
  }

  get pid(): number {
    return this.cluster.pid;
  }

  /** Acknowledges all further deliveries, until every queue is empty. Resolves to whether that was in time. */
  async drain(): Promise<boolean> {
    await this.#stopProducing();
    this.#handler.isDraining = true;
    return drained(this.cluster, this.ledger);
  }

  async close(): Promise<void> {
    if (this.#cluster !== null) await this.kill();
    await rm(this.persistDir, { recursive: true, force: true });
  }

  /** Lists the services of the next epoch. */
  protected services(): readonly WorkerdService[] {
    return this.#services;
  }

  protected send(order: SendOrder): Promise<SendAnswer> {
    return this.cluster.send(order);
  }

  /** Handles a batch that has reached a handler of the running epoch. */
  protected handle(report: BatchReport): Promise<Verdict> {
    return this.#handler.handle(report);
  }

  async #stopProducing(): Promise<void> {
    this.#producing?.stop.abort();
    await this.#producing?.ended;
    this.#producing = null;
  }
}

export function newFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), "sluice-soak-process-"));
}
