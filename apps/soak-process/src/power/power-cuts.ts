import { Random } from "@sluice/harness/random";
import { buildCommand } from "../sqs/command.ts";
import { PLANTED, type Planted, withMistake } from "./planted.ts";
import { type Platform, type Recording, record } from "./recording.ts";
import { type JudgedState, runPower } from "./run-power.ts";

const PLATFORMS: readonly Platform[] = ["Node.js", "workerd"];
/** Lives of the broker in a recording: the first is killed, the second stopped in order. */
const LIVES = 3;
/** Requests of each client in each life: enough for logs to be checkpointed into their files. */
export const REQUESTS = 100;
/** Most states that are rebuilt from one recording. */
const STATES_PER_RECORDING = 1_000;

export interface PowerRunOptions {
  /** States in all, half of them of each platform. */
  readonly states: number;
  readonly seed: number;
  /** Requests of each client in each life. */
  readonly requests: number;
  onState?(platform: Platform, state: JudgedState): void;
}

export interface PowerRunResult {
  readonly platform: Platform;
  readonly recordings: number;
  readonly events: number;
  readonly answers: number;
  readonly states: readonly JudgedState[];
}

/** Judges states of the disk after power cuts, of the broker on Node.js and on workerd. */
export async function runPowerCuts(options: PowerRunOptions): Promise<PowerRunResult[]> {
  const { states, seed, requests, onState } = options;
  const random = new Random(seed);
  const results: PowerRunResult[] = [];
  // Held over all recordings, so that the command is built once.
  const command = await buildCommand();
  try {
    for (const [i, platform] of PLATFORMS.entries()) {
      const judged: JudgedState[] = [];
      const figures = { recordings: 0, events: 0, answers: 0 };
      const count = Math.floor((states + i) / PLATFORMS.length);
      while (judged.length < count) {
        const recording = await record({ platform, random: random.fork(), lives: LIVES, requests });
        figures.recordings += 1;
        figures.events += recording.events.length;
        figures.answers += recording.events.filter(({ kind }) => kind === "answer").length;
        const more = await runPower(recording, {
          states: Math.min(STATES_PER_RECORDING, count - judged.length),
          seed: random.next(),
          withCommand: true,
          isUntilFound: false,
          onState: (state) => onState?.(platform, state),
        });
        judged.push(...more);
      }
      results.push({ platform, ...figures, states: judged });
    }
    return results;
  } finally {
    await command.remove();
  }
}

export interface PlantedResult {
  readonly planted: Planted;
  /** State that has shown the mistake; `null` if none has. */
  readonly found: JudgedState | null;
  /** States that were judged. */
  readonly states: number;
}

/** Makes each planted mistake, one at a time, until a state shows it. `states` is the most for each. */
export async function runPlantedPowerCuts(
  { states, seed, requests }: PowerRunOptions,
  planted = Object.keys(PLANTED) as readonly Planted[],
): Promise<PlantedResult[]> {
  const random = new Random(seed);
  const recording: Recording = await record({
    platform: "Node.js",
    random: random.fork(),
    lives: LIVES,
    requests,
  });
  const results: PlantedResult[] = [];
  for (const each of planted) {
    const events = withMistake(recording.events, each);
    const judged = await runPower(
      { ...recording, events },
      { states, seed: random.next(), withCommand: false, isUntilFound: true },
    );
    const found = judged.find(({ violations }) => violations.length > 0) ?? null;
    results.push({ planted: each, found, states: judged.length });
  }
  return results;
}
