import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { HAS_SCRIPT, OnTerminal } from "./on-terminal.ts";
import { SLUICE } from "./running.ts";

const RED = "\u001b[31merror: unknown command 'dve'";
const { NO_COLOR: _, FORCE_COLOR: __, ...ENV } = process.env;

it.runIf(HAS_SCRIPT).each([
  ["are red in a terminal", { TERM: "xterm" }, true],
  ["are plain with NO_COLOR", { TERM: "xterm", NO_COLOR: "1" }, false],
])("errors %s", async (_what, env, isRed) => {
  const command = new OnTerminal(["dve"], process.cwd(), { ...ENV, ...env });
  expect(await command.ended).toBe(2);
  expect(command.output).toContain("unknown command 'dve'");
  expect(command.output.includes(RED)).toBe(isRed);
});

it.each([
  ["plain elsewhere", {}, false],
  ["red with FORCE_COLOR", { FORCE_COLOR: "1" }, true],
])("errors are %s", (_what, env, isRed) => {
  const { stderr } = spawnSync(process.execPath, [SLUICE, "dve"], {
    encoding: "utf8",
    env: { ...ENV, ...env },
  });
  expect(stderr).toContain("unknown command 'dve'");
  expect(stderr.includes(RED)).toBe(isRed);
});
