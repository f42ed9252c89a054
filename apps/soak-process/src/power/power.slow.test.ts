import { Random } from "@sluice/harness/random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canTrace } from "../runs/sqs-syncs.ts";
import { buildCommand, type Command } from "../sqs/command.ts";
import { type Planted, withMistake } from "./planted.ts";
import { type Platform, type Recording, record } from "./recording.ts";
import { runPower } from "./run-power.ts";

if (!canTrace()) console.warn("There is no strace here that may trace: no power is cut.");

const SEED = 20_261;
const STATES = 60;
const PLATFORMS: readonly Platform[] = ["Node.js", "workerd"];
/** Mistakes that a short recording shows: its logs are put into their files only when the broker stops. */
const MISTAKES = [
  "database files",
  "logs of pages",
  "folders of objects",
  "folders above them",
] as const satisfies readonly Planted[];

describe.runIf(canTrace())("a power cut", { timeout: 300_000 }, () => {
  let command: Command;
  let recordings: ReadonlyMap<Platform, Recording>;
  beforeAll(async () => {
    // Held over all tests, so that it is built once.
    command = await buildCommand();
    const recorded = await Promise.all(
      PLATFORMS.map(async (platform) => {
        const options = { platform, random: new Random(SEED), lives: 2, requests: 30 };
        return [platform, await record(options)] as const;
      }),
    );
    recordings = new Map(recorded);
  }, 300_000);
  afterAll(() => command.remove());

  const recordingOf = (platform: Platform) => {
    const recording = recordings.get(platform);
    if (recording === undefined) throw new Error(`${platform} was not recorded`);
    return recording;
  };

  it.each(PLATFORMS)("takes away nothing that was answered on %s, and damages nothing", async (platform) => {
    const recording = recordingOf(platform);
    const answers = recording.events.filter(({ kind }) => kind === "answer").length;
    expect(answers).toBeGreaterThan(200);
    const options = { states: STATES, seed: SEED, withCommand: true, isUntilFound: false };
    const states = await runPower(recording, options);
    expect(states.filter(({ violations }) => violations.length > 0)).toEqual([]);
    expect(states).toHaveLength(STATES);
    expect(states.filter(({ isByCommand }) => isByCommand)).toHaveLength(1);
  });

  it.each(MISTAKES)("shows that %s are not synced", async (mistake) => {
    const recording = recordingOf("Node.js");
    const events = withMistake(recording.events, mistake);
    expect(events.length).toBeLessThan(recording.events.length);
    const options = { states: STATES, seed: SEED, withCommand: false, isUntilFound: true };
    const states = await runPower({ ...recording, events }, options);
    expect(states.at(-1)?.violations).not.toEqual([]);
  });
});
