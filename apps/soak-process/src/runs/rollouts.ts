import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { VersionName } from "../../workers/rollouts/wire.ts";
import type { Summary } from "../ledger/delivery-ledger.ts";
import { RolloutsScenario, type Stage } from "../rollouts/rollouts-scenario.ts";
import { versionOf } from "../rollouts/versions.ts";
import { conclude, type Ended } from "../scenario/scenario.ts";

interface RolloutOptions {
  readonly seed: number;
  readonly rollouts: number;
  /** Longest time between two steps of a rollout, in ms. */
  readonly stepMsMax: number;
  /** Checkout that the old version is built of. Default: this one. */
  readonly old?: string;
  /** Called after every rollout with the number of them. */
  readonly onRollout?: (rollouts: number) => void;
}

interface RolloutFigures {
  readonly kills: number;
  /** Objects that a rollout has given another version, or another consumer. */
  readonly reset: number;
  /** Calls of the producers, each of up to 60 messages, by their version. */
  readonly orders: Readonly<Record<VersionName, number>>;
}

/** Share of a rollout's steps that are followed by a kill. */
const KILLED = 0.15;
/** Share of a rollout's steps during which the broker is killed. */
const CUT_SHORT = 0.1;
/** Share of rollouts that give some of the objects the new version before all the others get it. */
const GRADUAL = 0.7;

/**
 * Rolls out the new version, then the old one again, and so on, under load. Broker, consumer and producers change their
 * version in a random order, the broker and the producers often by degrees: so old producers call a new broker and new
 * ones an old one, queues run another version than the Directory, and each version delivers to a consumer of the other.
 */
export async function runRollouts(options: RolloutOptions): Promise<Ended<Summary> & RolloutFigures> {
  const after = await versionOf();
  const before = options.old === undefined ? after : await versionOf(options.old);
  const first: Stage = { from: "old", to: "new", brokerShare: 0, consumerShare: 0, producerShare: 0 };
  const scenario = await RolloutsScenario.between(options.seed, { old: before, new: after }, first);
  const { random } = scenario;
  let kills = 0;
  try {
    await scenario.start();
    scenario.load();
    let stage = first;
    for (let rollout = 1; rollout <= options.rollouts; rollout++) {
      for (const step of drawSteps(random)) {
        stage = { ...stage, ...step };
        await sleep(random.between(0, options.stepMsMax));
        const isCutShort = random.chance(CUT_SHORT);
        if (isCutShort) await scenario.killWhileRolling(stage);
        else await scenario.roll(stage);
        if (isCutShort || random.chance(KILLED)) {
          kills += 1;
          if (!isCutShort) {
            await sleep(random.between(0, options.stepMsMax));
            await scenario.kill();
          }
          await scenario.start();
          scenario.load();
        }
      }
      await sleep(random.between(0, options.stepMsMax));
      // The next rollout leads back: shares count from the version that all parts have now.
      stage = { from: stage.to, to: stage.from, brokerShare: 0, consumerShare: 0, producerShare: 0 };
      scenario.begin(stage);
      options.onRollout?.(rollout);
    }
    const { reset, orders } = scenario;
    const ended = await conclude(scenario);
    const lines = options.old === undefined ? ended.lines : ended.lines.filter((line) => !RESET.test(line));
    return { ...ended, lines, kills, reset, orders };
  } finally {
    await scenario.close();
  }
}

/** Line that an earlier version prints about a directory that is being reset; this version calls it again. */
const RESET = /directory does not answer.*code was updated/;

type Step = Partial<Pick<Stage, "brokerShare" | "consumerShare" | "producerShare">>;

function drawSteps(random: Random): Step[] {
  const some = () => random.between(1, 9) / 10;
  const lists: Step[][] = [
    [...(random.chance(GRADUAL) ? [{ brokerShare: some() }] : []), { brokerShare: 1 }],
    [...(random.chance(GRADUAL) ? [{ producerShare: some() }] : []), { producerShare: 1 }],
    [{ consumerShare: 1 }],
  ];
  const steps: Step[] = [];
  for (;;) {
    const left = lists.filter(({ length }) => length > 0);
    const list = left[random.below(left.length)];
    const step = list?.shift();
    if (step === undefined) return steps;
    steps.push(step);
  }
}
