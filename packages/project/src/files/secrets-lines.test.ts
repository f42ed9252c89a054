import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { envFileName } from "./env-files.ts";
import { placeEnvFiles, placeSecrets } from "./secrets.ts";
import { ownSecretsLines, secretsPath } from "./secrets-lines.ts";

/** Places the secrets of a user's folder with files, and answers the lines in place of one about a file beside them. */
function linesIn(files: readonly string[], env = "") {
  const user = projectFolder(Object.fromEntries(files.map((file) => [file, "A=1\n"])));
  const directory = join(user, ".sluice/a");
  mkdirSync(directory, { recursive: true });
  placeSecrets(user, directory, env);
  placeEnvFiles(user, directory, files.slice(0, 1));
  const placed = [{ directory, userDirectory: user, env }];
  return (path: string) => ownSecretsLines(`Using ${path}!`, path, placed, user);
}

it("a file of secrets has the user's name", () => {
  const lines = linesIn([".dev.vars", ".env"]);
  expect(lines(".sluice/a/.dev.vars")).toEqual(["Using .dev.vars!"]);
  expect(lines(".sluice/a/.env")).toEqual(["Using .env!"]);
  expect(lines(".sluice/a/.env.local")).toEqual([]);
});

it("a file that stands for several of an environment's is a line for each", () => {
  const lines = linesIn([".dev.vars.staging", ".env.staging", ".env.staging.local"], "staging");
  expect(lines(".sluice/a/.env.local")).toEqual(["Using .env.staging!", "Using .env.staging.local!"]);
  expect(lines(".sluice/a/.dev.vars")).toEqual(["Using .dev.vars.staging!"]);
});

it("a file of --env-file has the user's name", () => {
  expect(linesIn(["my.env"])(`.sluice/a/${envFileName(0)}`)).toEqual(["Using my.env!"]);
});

it("other files keep their names", () => {
  expect(linesIn([".dev.vars"])("b/.dev.vars")).toEqual(["Using b/.dev.vars!"]);
});

it.each([
  ["Using secrets defined in .dev.vars", ".dev.vars"],
  ["Using vars defined in my folder/.env", "my folder/.env"],
  ["Using secrets for the queue", null],
  ["anything else", null],
])("%j names %j", (line, path) => {
  expect(secretsPath(line)).toBe(path);
});
