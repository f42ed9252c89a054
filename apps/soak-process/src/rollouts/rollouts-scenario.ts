import type { Random } from "@sluice/harness/random";
import type { WorkerdService } from "@sluice/protocol/test/workerd-process";
import type { Rollout, VersionName } from "../../workers/rollouts/wire.ts";
import { ROLLOUT_PATH } from "../../workers/rollouts/wire.ts";
import type { BatchReport, SendAnswer, SendOrder, Verdict } from "../../workers/wire.ts";
import { BROKER, bundled } from "../cluster/services.ts";
import { newFolder, WorkersScenario } from "../load/workers-scenario.ts";
import { servicesOf, type Versions } from "./versions.ts";

/** Stage of a rollout, producers included. */
export interface Stage extends Rollout {
  /** Share of the sends that the new version of the producer makes. */
  readonly producerShare: number;
}

/** Two versions of broker, producer and consumer under load, with their ledger, over any number of rollouts. */
export class RolloutsScenario extends WorkersScenario {
  /** Number of objects that rollouts have reset. */
  reset = 0;
  /** Number of calls of each version of the producer. */
  readonly orders: Record<VersionName, number> = { old: 0, new: 0 };
  readonly #versions: Versions;
  /** Bundle of `workers/rollouts/broker.ts`, which runs each object by one of the versions. */
  readonly #broker: string;
  readonly #producerRandom: Random;
  #stage: Stage;
  /** Resolves when the objects are reset; `null` while none is being reset. */
  #rolling: Promise<void> | null = null;

  static async between(seed: number, versions: Versions, stage: Stage): Promise<RolloutsScenario> {
    const broker = await bundled("rollouts/broker", ["old-broker", "new-broker"]);
    return new RolloutsScenario(seed, versions, broker, stage, await newFolder());
  }

  private constructor(seed: number, versions: Versions, broker: string, stage: Stage, persistDir: string) {
    super(seed, [], persistDir);
    this.#versions = versions;
    this.#broker = broker;
    this.#stage = stage;
    this.ledger.updatesReset = true;
    this.#producerRandom = this.random.fork();
  }

  protected override services(): readonly WorkerdService[] {
    return servicesOf(this.#versions, this.#broker, this.#stage);
  }

  /** Sends through either version of the producer. */
  protected override send(order: SendOrder): Promise<SendAnswer> {
    const { from, to, producerShare } = this.#stage;
    const version = this.#producerRandom.chance(producerShare) ? to : from;
    this.orders[version] += 1;
    return this.cluster.send(order, `${version}-producer`);
  }

  /**
   * Refuses deliveries that arrive while objects are reset, once the rollout is made: the version of the object that
   * made them is unknown. Answers of handlers that had begun before are refused too.
   */
  protected override async handle(report: BatchReport): Promise<Verdict> {
    const { epoch } = this.ledger;
    if (this.#rolling === null) {
      const verdict = await super.handle(report);
      if (epoch === this.ledger.epoch) return verdict;
    }
    await this.#rolling;
    throw new Error("a rollout came between");
  }

  /** Begins another rollout, at a stage that equals the running one. */
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
      this.reset += await this.#resetObjects(stage);
    } finally {
      // Once more: a message may have been delivered, and refused, both before and after the reset of its object.
      this.ledger.epochEnded();
      this.#rolling = null;
      resolve();
    }
  }

  /** Kills the process while the objects are being reset. */
  async killWhileRolling(stage: Stage): Promise<void> {
    const rolled = this.roll(stage).catch(() => {});
    await this.kill();
    await rolled;
  }

  /**
   * Resets every object whose version changes. Afterwards no delivery of an object that was reset can reach the ledger.
   *
   * @returns how many objects were reset.
   */
  async #resetObjects(rollout: Rollout): Promise<number> {
    const { cluster } = this;
    const answer = await cluster.request(BROKER, ROLLOUT_PATH, {
      method: "POST",
      body: JSON.stringify(rollout),
    });
    const reset = (await answer.json()) as number;
    for (const consumer of ["old-consumer", "new-consumer"]) {
      await (await cluster.request(consumer, "/")).arrayBuffer();
    }
    return reset;
  }
}
