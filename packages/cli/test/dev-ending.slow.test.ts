import { cpSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { LOOK_EVERY_MS } from "@sluice/local/dev/npm-shell";
import getPort from "@sluice/protocol/test/free-port";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { descendants, eventually, freePorts, isRunning, type Lab, openLab } from "./lab.ts";
import { HAS_SCRIPT, OnTerminal, PATIENCE_MS } from "./on-terminal.ts";
import { Running, SLUICE, sluice } from "./running.ts";

describe.skipIf(!HAS_SCRIPT)("a sluice dev whose folder is deleted", { timeout: 300_000 }, () => {
  let lab: Lab;
  let doomed: OnTerminal;
  let others: Running[];
  const portsFor = async () => (await freePorts()).options;

  beforeEach(() => {
    lab = openLab("staged");
    others = [];
  });
  afterEach(async () => {
    doomed.kill();
    await Promise.all(others.map((other) => other.stop()));
    lab.remove();
  });

  it("harms no other sluice dev, and ends at Ctrl-C with every process that it started", async () => {
    const folder = join(lab.folder, "doomed");
    cpSync(join(lab.folder, "receiver"), folder, { recursive: true });
    // The data are outside of the folder: without them the session would end by itself.
    const kept = ["--persist-to", join(lab.folder, "kept")];
    doomed = new OnTerminal(["dev", "--env", "x", ...(await portsFor()), ...kept], folder, lab.env);
    await expect.poll(() => doomed.output).toMatch(/Ready on/);
    const start = async () => {
      const other = sluice(["dev", "sender", "--env", "x", ...(await portsFor())], lab.folder, lab.env);
      others.push(other);
      return other;
    };
    const before = await start();
    await before.printed(/jobs-x +sender-x \(JOBS\) +receiver-x \(elsewhere\)/);
    await before.printed(/admin +http/);

    rmSync(folder, { recursive: true });
    await before.printed(/jobs-x +sender-x \(JOBS\) +-/);
    const data = ["--persist-to", join(lab.folder, "data")];
    const after = sluice(
      ["dev", "sender", "--env", "x", ...(await portsFor()), ...data],
      lab.folder,
      lab.env,
    );
    others.push(after);
    await after.printed(/admin +http/);

    const started = descendants(doomed.pid);
    await doomed.interrupt();
    await eventually(async () => started.filter(isRunning), []);
    expect(others.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
    expect(before.output).not.toMatch(/ENOENT/);
  });
});

it("sluice dev ends with every process that it started when its output is closed", async () => {
  const lab = openLab("staged");
  const { options: ports } = await freePorts();
  const running = sluice(["dev", "sender", "--env", "x", ...ports], lab.folder, lab.env);
  try {
    await running.printed(/Ready on/);
    running.leave();
    const started = descendants(running.pid);
    expect(started.length).toBeGreaterThan(0);
    // Wrangler prints something about that.
    const isRuntime = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--control-fd=");
    for (const pid of started.filter(isRuntime)) process.kill(pid, "SIGKILL");
    const over = setTimeout(PATIENCE_MS, "it goes on", { ref: false });
    // The signal of a closed terminal.
    expect(await Promise.race([running.ended, over])).toBe(129);
    await eventually(async () => started.filter(isRunning), []);
  } finally {
    for (const pid of [...descendants(running.pid), running.pid]) {
      if (isRunning(pid)) process.kill(pid, "SIGKILL");
    }
    lab.remove();
  }
}, 300_000);

it("sluice dev says first of all that its port is in use", async () => {
  const lab = openLab("staged");
  const server = createServer();
  const port = await getPort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  try {
    const running = sluice(["dev", "sender", "--env", "x", "--port", `${port}`], lab.folder, lab.env);
    expect(await running.ended).toBe(1);
    expect(running.output).toBe(
      `Port ${port} of localhost is in use by another process. End that one, or choose another port with --port.\n`,
    );
  } finally {
    server.close();
    lab.remove();
  }
});

it.skipIf(process.platform === "win32").each([
  ["ends with the shell that npm waits for", '"$0" "$@"; exit', "exec", false],
  ["goes on after a shell that is no part of npm", '"$0" "$@"; exit', undefined, true],
  ["goes on after a shell that leaves it behind", '"$0" "$@" & wait', "exec", true],
])("a sluice dev %s", { timeout: 300_000 }, async (_what, script, npm, goesOn) => {
  const lab = openLab("staged");
  const { options } = await freePorts();
  const command = [process.execPath, SLUICE, "dev", "receiver", "--env", "x", ...options];
  const env = { ...lab.env, npm_command: npm };
  const shell = new Running(["-c", script, ...command], lab.folder, env, "", "/bin/sh");
  const started: number[] = [];
  try {
    await shell.printed(/Ready on/);
    started.push(...descendants(shell.pid));
    process.kill(shell.pid, "SIGTERM");
    if (goesOn) {
      // Longer than it would take to be seen.
      await setTimeout(3 * LOOK_EVERY_MS);
      expect(started.filter(isRunning)).toEqual(started);
    } else await eventually(async () => started.filter(isRunning), []);
  } finally {
    for (const pid of started.filter(isRunning)) process.kill(pid, "SIGTERM");
    await eventually(async () => started.filter(isRunning), []);
    lab.remove();
  }
});
