import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endEsbuildFirst } from "./end-esbuild.ts";

it.skipIf(process.platform === "win32")(
  "ends each esbuild that runs at the exit, and nothing else",
  async () => {
    let exit = () => {};
    endEsbuildFirst((end) => {
      exit = end;
    });
    const folder = mkdtempSync(join(tmpdir(), "sluice-esbuild-"));
    const started = ["esbuild", "workerd"].map((name) => {
      symlinkSync(process.execPath, join(folder, name));
      return spawn(join(folder, name), ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    });
    const [esbuild, other] = started as [(typeof started)[0], (typeof started)[0]];
    try {
      await Promise.all(started.map((child) => once(child, "spawn")));
      const ended = once(esbuild, "exit");
      exit();
      expect(await ended).toEqual([null, "SIGKILL"]);
      expect([other.killed, other.exitCode, other.signalCode]).toEqual([false, null, null]);
    } finally {
      for (const child of started) child.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  },
);
