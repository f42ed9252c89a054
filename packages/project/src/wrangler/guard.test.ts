import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { isRunning } from "../processes.ts";
import { startGuard } from "./guard.ts";

const GUARD = new URL("./guard.ts", import.meta.url).href;

/** Has a guard for two processes, one of which it drops, and for a folder; prints the numbers of both. */
const GUARDED = `
  const { spawn } = await import("node:child_process");
  const { startGuard } = await import(process.argv[1]);
  const guard = startGuard();
  const pids = [0, 1].map(() => spawn("sleep", ["600"], { stdio: "ignore" }).pid);
  for (const pid of pids) guard.add(pid);
  guard.drop(pids[1]);
  guard.addFile(process.argv[2]);
  // What was told is told once the loop of events has gone round.
  setTimeout(() => console.log(pids.join(" ")), 100);
  setInterval(() => {}, 1_000);
`;

it.skipIf(process.platform === "win32")("ends and deletes what a killed process leaves behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice guard-"));
  const file = join(folder, "left behind");
  mkdirSync(file);
  writeFileSync(join(file, "in it"), "");
  const child = spawn(process.execPath, ["--input-type=module", "-e", GUARDED, GUARD, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const [guarded = 0, dropped = 0] = String(line).split(" ").map(Number);
  onTestFinished(() => {
    process.kill(dropped, "SIGKILL");
    rmSync(folder, { recursive: true });
  });
  child.kill("SIGKILL");
  await expect.poll(() => isRunning(guarded)).toBe(false);
  await expect.poll(() => existsSync(file)).toBe(false);
  expect(isRunning(dropped)).toBe(true);
});

it("on Windows deletes its files when it is disposed of, and keeps no listener", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [file, other] = [join(folder, "a"), join(folder, "b")];
  for (const path of [file, other]) mkdirSync(path);
  const listeners = process.listenerCount("exit");
  const guard = startGuard("win32");
  guard.addFile(file);
  guard.addFile(join(folder, "never made"));
  expect(existsSync(file)).toBe(true);
  guard[Symbol.dispose]();
  expect([existsSync(file), existsSync(other)]).toEqual([false, true]);
  expect(process.listenerCount("exit")).toBe(listeners);
});
