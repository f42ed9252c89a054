import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Random } from "@sluice/harness/random";
import type { Rollout, VersionName } from "../../workers/rollouts/wire.ts";
import type { BatchReport, SendOrder, Verdict } from "../../workers/wire.ts";
import { bundleRollouts } from "../cluster/bundle-workers.ts";
import { DeliveryLedger } from "../ledger/delivery-ledger.ts";
import { Handler } from "../load/handler.ts";
import { produce } from "../load/producers.ts";
import { damageLines } from "../runs/scenario.ts";
import { drained } from "../runs/workers-scenario.ts";
import { Deployment } from "./deployment.ts";
import type { Version } from "./versions.ts";

/** A rollout as it stands, producers included. */
export interface Stage extends Rollout {
  /** Share of the sends that the new version of the producer makes. */
  readonly producerShare: number;
}

/** Two versions of everything under load, with their ledger, over any number of rollouts and processes. */
export class RolloutsScenario {
  readonly ledger = new DeliveryLedger();
  readonly random: Random;
  /** How many objects were reset by rollouts. */
  reset = 0;
  /** Calls of each version of the producer. */
  readonly orders: Record<VersionName, number> = { old: 0, new: 0 };
  readonly #versions: Readonly<Record<VersionName, Version>>;
  readonly #broker: string;
  readonly #persistDir: string;
  readonly #handler: Handler;
  readonly #lines: string[] = [];
  readonly #producerRandom: Random;
  #stage: Stage;
  /** Names the process that runs. */
  #process: object | null = null;
  #deployment: Deployment | null = null;
  #producing: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;
  /** Resolves when the objects that are being reset have been. */
  #rolling: Promise<void> | null = null;

  static async open(seed: number, versions: Readonly<Record<VersionName, Version>>, stage: Stage) {
    const folder = await mkdtemp(path.join(tmpdir(), "sluice-rollouts-"));
    return new RolloutsScenario(seed, versions, await bundleRollouts(), folder, stage);
  }

  private constructor(
    seed: number,
    versions: Readonly<Record<VersionName, Version>>,
    broker: string,
    persistDir: string,
    stage: Stage,
  ) {
    this.#versions = versions;
    this.#broker = broker;
    this.#persistDir = persistDir;
    this.#stage = stage;
    this.random = new Random(seed);
    this.ledger.updatesReset = true;
    this.#producerRandom = this.random.fork();
    this.#handler = new Handler(this.ledger, this.random.fork());
  }

  get #running(): Deployment {
    if (this.#deployment === null) throw new Error("nothing is running");
    return this.#deployment;
  }

  unexpectedLines(): string[] {
    return damageLines([...this.#lines, ...(this.#deployment?.lines ?? [])]);
  }

  async start(): Promise<void> {
    const process = {};
    this.#process = process;
    this.#deployment = await Deployment.start({
      versions: this.#versions,
      broker: this.#broker,
      persistDir: this.#persistDir,
      rollout: this.#stage,
      handle: (report) => this.#handle(report, process),
    });
    const stop = new AbortController();
    const cluster = { send: (order: SendOrder) => this.#running.send(order, this.#producer()) };
    this.#producing = { stop, ended: produce(cluster, this.ledger, this.random.fork(), stop.signal) };
  }

  #producer(): VersionName {
    const { from, to, producerShare } = this.#stage;
    const version = this.#producerRandom.chance(producerShare) ? to : from;
    this.orders[version] += 1;
    return version;
  }
  /**
   * While objects are reset nobody can tell by whom a delivery was made. One that comes then is refused when the
   * rollout has been made, and so is what a handler answers then that had begun before.
   */
  async #handle(report: BatchReport, process: object): Promise<Verdict> {
    if (this.#rolling !== null) {
      await this.#rolling;
      throw new Error("a rollout came between");
    }
    if (process !== this.#process) throw new Error("this process has ended");
    const { epoch } = this.ledger;
    const verdict = await this.#handler.handle(report);
    if (epoch === this.ledger.epoch) return verdict;
    await this.#rolling;
    throw new Error("a rollout came between");
  }

  /** Begins another rollout, at a stage that is what runs already. */
  begin(stage: Stage): void {
    this.#stage = stage;
  }

  /** Goes on with the rollout under load. */
  async roll(stage: Stage): Promise<void> {
    const { brokerShare, consumerShare } = this.#stage;
    if (stage.brokerShare === brokerShare && stage.consumerShare === consumerShare) {
      this.#stage = stage;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#rolling = promise;
    this.ledger.epochEnded();
    this.#stage = stage;
    try {
      this.reset += await this.#running.roll(stage);
    } finally {
      // Once more: a message may have been delivered, and refused, before and behind the reset.
      this.ledger.epochEnded();
      this.#rolling = null;
      resolve();
    }
  }

  /** kill -9, whatever is under way. A rollout that is goes on when it is started again. */
  async kill(): Promise<void> {
    this.ledger.epochEnded();
    this.#process = null;
    await this.#running.kill();
    await this.#stopProducing();
    this.#lines.push(...this.#running.lines);
    this.#deployment = null;
  }

  /** As `kill`, but while the objects are being reset. */
  async killWhileRolling(stage: Stage): Promise<void> {
    const rolled = this.roll(stage).catch(() => {});
    await this.kill();
    await rolled;
  }

  async #stopProducing(): Promise<void> {
    this.#producing?.stop.abort();
    await this.#producing?.ended;
    this.#producing = null;
  }

  /** Acknowledges whatever is still delivered, until every queue is empty. */
  async drain(): Promise<boolean> {
    await this.#stopProducing();
    this.#handler.isDraining = true;
    return drained(this.#running, this.ledger);
  }

  async close(): Promise<void> {
    if (this.#deployment !== null) await this.kill();
    await rm(this.#persistDir, { recursive: true, force: true });
  }
}
