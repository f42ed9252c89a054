import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { processesOf } from "./processes.ts";

it("processesOf finds what a process of a project has started, in another process group too", async () => {
  const folder = `/sluice-${crypto.randomUUID()}`;
  const program = `
    const options = { detached: true, stdio: ["ignore", "inherit", "ignore"] };
    require("node:child_process").spawn("/bin/sh", ["-c", "echo started; sleep 60"], options).unref();
  `;
  const first = spawn(process.execPath, ["-e", program], {
    env: { ...process.env, PROJECT: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await Promise.all([once(first.stdout, "data"), once(first, "exit")]);
  const left = processesOf(folder);
  expect(left.map(({ command }) => command).join()).toContain("sleep 60");
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  await expect.poll(() => processesOf(folder)).toEqual([]);
});
