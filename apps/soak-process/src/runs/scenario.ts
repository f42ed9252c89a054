import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundleWorkers, type WorkerSources } from "../cluster/bundle-workers.ts";
import { Cluster } from "../cluster/cluster.ts";
import { Ledger } from "../ledger/ledger.ts";
import { Handler } from "../load/handler.ts";
import { produce } from "../load/producers.ts";
import { Random } from "../random.ts";

/** Longest that a run waits without anything being delivered before it takes the rest for lost, in ms. */
const STALLED_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/** A system under test with its load and its books, over any number of lives. */
export class Scenario {
  readonly ledger: Ledger;
  readonly handler: Handler;
  readonly random: Random;
  readonly persistDir: string;
  readonly #sources: WorkerSources;
  #cluster: Cluster | null = null;
  #producing: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;
  /** Lines of lives that have ended. */
  readonly #earlierLines: string[] = [];

  /**
   * @param persistDir an empty folder; by default a new one. `close` deletes either.
   * @param now the books' clock, in ms; by default the system's.
   */
  static async open(seed: number, persistDir?: string, now?: () => number): Promise<Scenario> {
    const sources = await bundleWorkers();
    const folder = persistDir ?? (await mkdtemp(path.join(tmpdir(), "sluice-soak-process-")));
    return new Scenario(sources, seed, folder, now);
  }

  private constructor(sources: WorkerSources, seed: number, persistDir: string, now?: () => number) {
    this.#sources = sources;
    this.persistDir = persistDir;
    this.random = new Random(seed);
    this.ledger = new Ledger(now);
    this.handler = new Handler(this.ledger, this.random.fork());
  }

  /** The life that is running. */
  get cluster(): Cluster {
    if (this.#cluster === null) throw new Error("nothing is running");
    return this.#cluster;
  }

  /** Everything that was printed, over all lives. */
  get lines(): readonly string[] {
    return [...this.#earlierLines, ...(this.#cluster?.lines ?? [])];
  }

  async start(): Promise<Cluster> {
    const { life } = this.ledger;
    this.#cluster = await Cluster.start({
      sources: this.#sources,
      persistDir: this.persistDir,
      handle: async (report) => {
        if (life !== this.ledger.life) throw new Error("this life has ended");
        return this.handler.handle(report);
      },
    });
    return this.#cluster;
  }

  /** Sends at random until `stopProducing` or the end of this life. */
  startProducing(): void {
    const stop = new AbortController();
    this.#producing = { stop, ended: produce(this.cluster, this.ledger, this.random.fork(), stop.signal) };
  }

  async stopProducing(): Promise<void> {
    this.#producing?.stop.abort();
    await this.#producing?.ended;
    this.#producing = null;
  }

  /** kill -9, whatever is under way. */
  async kill(): Promise<void> {
    this.cluster.kill();
    this.ledger.lifeEnded();
    await this.cluster.ended();
    await this.stopProducing();
    this.#earlierLines.push(...this.cluster.lines);
    this.#cluster = null;
  }

  /**
   * Acknowledges whatever is still delivered, until every queue is empty.
   *
   * @returns whether that was reached; `false` when nothing more came for a while.
   */
  async drain(): Promise<boolean> {
    await this.stopProducing();
    this.handler.isDraining = true;
    let [left, sinceMs] = [Number.POSITIVE_INFINITY, Date.now()];
    for (;;) {
      const queues = await this.cluster.queues();
      const now = queues.reduce(
        (sum, { messages: { ready, delayed, leased } }) => sum + ready + delayed + leased,
        0,
      );
      if (now === 0 && this.ledger.openCount === 0) return true;
      const waiting = now + this.ledger.openCount;
      if (waiting !== left) [left, sinceMs] = [waiting, Date.now()];
      else if (Date.now() - sinceMs > STALLED_MS) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  async close(): Promise<void> {
    if (this.#cluster !== null) await this.kill();
    await rm(this.persistDir, { recursive: true, force: true });
  }
}

/** Lines that speak of damage or loss. */
export function damageLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /damage|lost|missing|older than/.test(line));
}
