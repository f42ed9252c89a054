import { rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { placeSecrets } from "@sluice/project/files/secrets";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { VariablesWatch, variableFiles } from "./variables.ts";

it.each<[string, string, string[], string[]]>([
  ["the top level", "", [], [".dev.vars", ".env", ".env.local"]],
  ["an environment", "x", [], [".dev.vars", ".dev.vars.x", ".env", ".env.local", ".env.x", ".env.x.local"]],
  ["--env-file", "x", ["one.env", "../two.env"], ["../two.env", "one.env"]],
])("variables of %s come from these files", (_, env, envFiles, expected) => {
  const folder = projectFolder({});
  const files = variableFiles(folder, env, envFiles);
  expect(files.sort()).toEqual(expected.map((name) => join(folder, name)).sort());
});

function world(files: Record<string, string>) {
  const user = projectFolder(files);
  const workers = ["shop", "mail"].map((name) => {
    const directory = projectFolder({ "wrangler.json": "{}" });
    return { name, directory, configFile: join(directory, "wrangler.json") };
  });
  placeSecrets(user, workers[0]?.directory ?? "", "");
  const watch = new VariablesWatch(["one.env"]);
  /** Names the Workers whose configurations were touched. */
  const renew = () => {
    const old = new Date(0);
    for (const { configFile } of workers) utimesSync(configFile, old, old);
    watch.renew(workers);
    return workers.filter(({ configFile }) => statSync(configFile).mtimeMs > 0).map(({ name }) => name);
  };
  return { user, renew, mail: workers[1]?.directory ?? "" };
}

it("a configuration is touched once for each change of its variables", () => {
  const { user, renew } = world({ ".dev.vars": "A=1" });
  expect([renew(), renew()]).toEqual([[], []]);
  writeFileSync(join(user, ".dev.vars"), "A=2");
  expect([renew(), renew()]).toEqual([["shop"], []]);
  writeFileSync(join(user, ".env"), "B=1");
  expect([renew(), renew()]).toEqual([["shop"], []]);
  rmSync(join(user, ".dev.vars"));
  expect([renew(), renew()]).toEqual([["shop"], []]);
});

it("changed variables are told once, and nothing is touched by that", () => {
  const user = projectFolder({ ".dev.vars": "A=1" });
  const directory = projectFolder({});
  placeSecrets(user, directory, "");
  const watch = new VariablesWatch([]);
  const tell = () => watch.hasChanged({ directory });
  expect([tell(), tell()]).toEqual([false, false]);
  writeFileSync(join(user, ".dev.vars"), "A=2");
  expect([tell(), tell()]).toEqual([true, false]);
});

it("a file of --env-file counts too", () => {
  const { renew, mail } = world({});
  renew();
  writeFileSync(join(mail, "env-file-0"), "A=1");
  expect([renew(), renew()]).toEqual([["mail"], []]);
});
