import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Random } from "@sluice/harness/random";
import { bundleWorkers, type WorkerSources } from "../cluster/bundle-workers.ts";
import { Cluster } from "../cluster/cluster.ts";
import { DeliveryLedger, type Summary } from "../ledger/delivery-ledger.ts";
import { Handler } from "../load/handler.ts";
import { produce } from "../load/producers.ts";
import { damageLines, type Scenario } from "./scenario.ts";

/** Longest that a run waits without anything being delivered before it takes the rest for lost, in ms. */
const STALLED_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/** Workers on workerd with their load and their ledger, over any number of epochs. */
export class WorkersScenario implements Scenario<Summary> {
  readonly ledger: DeliveryLedger;
  readonly handler: Handler;
  readonly random: Random;
  readonly persistDir: string;
  readonly #sources: WorkerSources;
  #cluster: Cluster | null = null;
  #producing: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;
  /** Lines of epochs that have ended. */
  readonly #earlierLines: string[] = [];

  /** @param persistDir an empty folder on a disk that will be full; by default a new one. `close` deletes either. */
  static async open(seed: number, persistDir?: string): Promise<WorkersScenario> {
    const sources = await bundleWorkers();
    const folder = persistDir ?? (await mkdtemp(path.join(tmpdir(), "sluice-soak-process-")));
    const scenario = new WorkersScenario(sources, seed, folder);
    scenario.ledger.objectsMayReset = persistDir !== undefined;
    return scenario;
  }

  private constructor(sources: WorkerSources, seed: number, persistDir: string) {
    this.#sources = sources;
    this.persistDir = persistDir;
    this.random = new Random(seed);
    this.ledger = new DeliveryLedger();
    this.handler = new Handler(this.ledger, this.random.fork());
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
    const { epoch } = this.ledger;
    this.#cluster = await Cluster.start({
      sources: this.#sources,
      persistDir: this.persistDir,
      handle: async (report) => {
        if (epoch !== this.ledger.epoch) throw new Error("this epoch has ended");
        return this.handler.handle(report);
      },
    });
  }

  /** Sends at random until `drain` or the end of this epoch. */
  load(): void {
    const stop = new AbortController();
    this.#producing = { stop, ended: produce(this.cluster, this.ledger, this.random.fork(), stop.signal) };
  }

  async #stopProducing(): Promise<void> {
    this.#producing?.stop.abort();
    await this.#producing?.ended;
    this.#producing = null;
  }

  /** kill -9, whatever is under way. */
  async kill(): Promise<void> {
    this.cluster.kill();
    this.ledger.epochEnded();
    await this.cluster.ended();
    await this.#stopProducing();
    this.#earlierLines.push(...this.cluster.lines);
    this.#cluster = null;
  }

  freeze(): void {
    this.cluster.freeze();
  }

  thaw(): void {
    this.cluster.thaw();
  }

  /**
   * Acknowledges whatever is still delivered, until every queue is empty.
   *
   * @returns whether that was reached; `false` when nothing more came for a while.
   */
  async drain(): Promise<boolean> {
    await this.#stopProducing();
    this.handler.isDraining = true;
    return drained(this.cluster, this.ledger);
  }

  async close(): Promise<void> {
    if (this.#cluster !== null) await this.kill();
    await rm(this.persistDir, { recursive: true, force: true });
  }
}

/**
 * Waits until every queue is empty and nothing is owed.
 *
 * @returns whether that was reached; `false` when nothing more came for a while.
 */
export async function drained(cluster: Pick<Cluster, "queues">, ledger: DeliveryLedger): Promise<boolean> {
  let [left, sinceMs] = [Number.POSITIVE_INFINITY, Date.now()];
  for (;;) {
    const queues = await cluster.queues();
    const now = queues.reduce(
      (sum, { messages: { ready, delayed, leased } }) => sum + ready + delayed + leased,
      0,
    );
    if (now === 0 && ledger.owed === 0) return true;
    const waiting = now + ledger.owed;
    if (waiting !== left) [left, sinceMs] = [waiting, Date.now()];
    else if (Date.now() - sinceMs > STALLED_MS) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
