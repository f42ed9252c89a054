import { writeFile } from "node:fs/promises";
import type { SourceMap } from "node:module";
import path from "node:path";
import type { Case } from "../compare/cases.ts";
import type { CpuProfile } from "../lab/inspector.ts";
import { type Lab, type LabWorker, startLab } from "../lab/lab.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { Measured } from "../workload/run.ts";
import type { FindSource } from "./self-time.ts";

export const SAMPLING_MICROS = 100;
const WARM_UP_RUNS = 3;

/** The CPU profile of one isolate in one case. */
export interface ProfiledIsolate {
  readonly title: string;
  readonly measured: Measured;
  readonly profile: CpuProfile;
  readonly findSource: FindSource;
  /** File that it was written to. */
  readonly file: string;
}

/**
 * Profiles a case, the broker and the bench Worker with our producer and consumer in it at the same time: the isolates take
 * turns on one thread. Writes `FILE` for the broker and a second file beside it for the driver.
 */
export async function profileCase(
  testCase: Case,
  messages: number,
  file: string,
): Promise<ProfiledIsolate[]> {
  const persistDir = await temporaryFolder("profile");
  const lab = await startLab({ persistDir, consumer: {} });
  try {
    for (let i = 0; i < WARM_UP_RUNS; i++) await lab.run(testCase.way, messages);
    const { measured, profiles } = await profileRun(lab, testCase, messages);
    const files: Readonly<Record<LabWorker, string>> = { broker: file, driver: besideOf(file, "driver") };
    const workers = ["broker", "driver"] as const;
    for (const worker of workers) await writeFile(files[worker], JSON.stringify(profiles[worker]));
    return workers.map((worker) => ({
      title: `${testCase.title}: ${worker}`,
      measured,
      profile: profiles[worker],
      findSource: sourceFinder(lab.sourceMaps[worker]),
      file: files[worker],
    }));
  } finally {
    await lab.stop();
    await removeFolder(persistDir);
  }
}

function sourceFinder(map: SourceMap): FindSource {
  return (line, column) => {
    const entry = map.findEntry(line, column);
    return "originalSource" in entry ? { file: entry.originalSource, line: entry.originalLine } : null;
  };
}

async function profileRun(lab: Lab, { way }: Case, messages: number) {
  const broker = await lab.inspect("broker");
  const driver = await lab.inspect("driver");
  try {
    await broker.startCpuProfile(SAMPLING_MICROS);
    await driver.startCpuProfile(SAMPLING_MICROS);
    const measured = await lab.run(way, messages);
    const profiles = { broker: await broker.stopCpuProfile(), driver: await driver.stopCpuProfile() };
    return { measured, profiles };
  } finally {
    broker.close();
    driver.close();
  }
}

/** `a/b.cpuprofile` -> `a/b.driver.cpuprofile`. */
export function besideOf(file: string, word: string): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${word}${ext}`);
}
