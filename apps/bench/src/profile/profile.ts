import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Case } from "../compare/cases.ts";
import type { CpuProfile } from "../lab/inspector.ts";
import { type Lab, type LabWorker, startLab } from "../lab/lab.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { Measured } from "../workload/run.ts";

const SAMPLING_MICROS = 100;
const WARM_UP_RUNS = 3;

/** CPU profiles of one case, taken at the same time: the isolates take turns on one thread. */
export interface ProfiledCase {
  readonly testCase: Case;
  readonly measured: Measured;
  /** By Worker: of the broker, and of the bench Worker with our producer and consumer in it. */
  readonly profiles: Readonly<Record<LabWorker, CpuProfile>>;
  readonly sourceMaps: Lab["sourceMaps"];
  /** Files that they were written to. */
  readonly files: Readonly<Record<LabWorker, string>>;
}

/** Profiles a case and writes `FILE` for the broker and a second file beside it for the driver. */
export async function profileCase(testCase: Case, messages: number, file: string): Promise<ProfiledCase> {
  const persistDir = await temporaryFolder("profile");
  const lab = await startLab({ persistDir, consumer: {} });
  try {
    for (let i = 0; i < WARM_UP_RUNS; i++) await lab.run(testCase.way, messages);
    const { measured, profiles } = await profileRun(lab, testCase, messages);
    const files = { broker: file, driver: besideOf(file, "driver") };
    for (const worker of ["broker", "driver"] as const) {
      await writeFile(files[worker], JSON.stringify(profiles[worker]));
    }
    return { testCase, measured, profiles, sourceMaps: lab.sourceMaps, files };
  } finally {
    await lab.stop();
    await removeFolder(persistDir);
  }
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
