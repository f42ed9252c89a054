import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { dataFolder, temporaryFolder } from "./data-folder.ts";

const MODULE = JSON.stringify(new URL("./data-folder.ts", import.meta.url).href);
/** Makes both folders, prints them, and stays until its input ends. */
const OTHER = `
  import { dataFolder, temporaryFolder } from ${MODULE};
  process.stdout.write(JSON.stringify([temporaryFolder(), dataFolder()]), () => process.stdout.end());
  process.stdin.resume();
`;

let folder: string;
const made: string[] = [];
const processes: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-folders-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const process of processes.splice(0)) await ended(process);
  for (const path of [folder, ...made.splice(0)]) rmSync(path, { recursive: true, force: true });
});

async function otherProcess(): Promise<{ process: ChildProcess; folders: string[] }> {
  const args = ["--no-warnings", "--input-type=module", "--eval", OTHER];
  const process = spawn(globalThis.process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  processes.push(process);
  const folders: string[] = JSON.parse(await text(process.stdout));
  made.push(...folders);
  return { process, folders };
}

async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exit = once(process, "exit");
  process.kill("SIGKILL");
  await exit;
}

function own(): string[] {
  const folders = [temporaryFolder(), dataFolder()];
  made.push(...folders);
  return folders;
}

it("folders of a killed process are deleted by the next process that makes some", async () => {
  const { process, folders } = await otherProcess();
  await ended(process);
  expect(folders.map((path) => existsSync(path))).toEqual([true, true]);
  const ours = own();
  expect(folders.map((path) => existsSync(path))).toEqual([false, false]);
  expect(ours.map((path) => existsSync(path))).toEqual([true, true]);
});

it("folders of living processes stay, those of this one too", async () => {
  const { folders } = await otherProcess();
  const ours = [...own(), ...own()];
  expect([...folders, ...ours].map((path) => existsSync(path))).toEqual(Array(6).fill(true));
});

it("folders of other machines and containers stay, whose processes are unknown here", async () => {
  const { process, folders } = await otherProcess();
  await ended(process);
  const elsewhere = folders.map((path) => {
    const name = basename(path).replace(/-[0-9a-f]{8}-(\w{6})$/, "-00000000-$1");
    expect(name).not.toBe(basename(path));
    return join(dirname(path), name);
  });
  made.push(...elsewhere);
  for (const path of elsewhere) mkdirSync(path);
  own();
  expect(elsewhere.map((path) => existsSync(path))).toEqual([true, true]);
});
