import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { secretsLines } from "./secrets-lines.ts";

const BESIDE = ".sluice/vite-config/development";

/** Makes a user's folder with files, which is the current one, and answers the lines in place of one. */
function linesIn(files: readonly string[], env = "") {
  const userDirectory = mkdtempSync(join(tmpdir(), "sluice-vite-"));
  onTestFinished(() => rmSync(userDirectory, { recursive: true }));
  for (const file of files) writeFileSync(join(userDirectory, file), "A=1\n");
  const cwd = vi.spyOn(process, "cwd").mockReturnValue(userDirectory);
  onTestFinished(() => cwd.mockRestore());
  return (message: string) =>
    secretsLines(message, [{ directory: join(userDirectory, BESIDE), userDirectory, env }]);
}

it("a file of secrets beside the generated configuration has the user's name", () => {
  const lines = linesIn([".dev.vars"]);
  expect(lines(`Using secrets defined in ${BESIDE}/.dev.vars`)).toEqual([
    "Using secrets defined in .dev.vars",
  ]);
  expect(lines(`Using vars defined in ${BESIDE}/.dev.vars`)).toEqual(["Using vars defined in .dev.vars"]);
});

it("a file that stands for several of an environment's is a line for each", () => {
  const lines = linesIn([".dev.vars.staging", ".env.staging", ".env.staging.local"], "staging");
  expect(lines(`Using secrets defined in ${BESIDE}/.env.local`)).toEqual([
    "Using secrets defined in .env.staging",
    "Using secrets defined in .env.staging.local",
  ]);
  expect(lines(`Using secrets defined in ${BESIDE}/.dev.vars`)).toEqual([
    "Using secrets defined in .dev.vars.staging",
  ]);
});

it.each([
  "Using secrets defined in .dev.vars",
  "Using secrets defined in post/.dev.vars",
  "Using secrets defined in process.env",
  "anything else",
])("%j stays", (message) => {
  expect(linesIn([".dev.vars"])(message)).toEqual([message]);
});
