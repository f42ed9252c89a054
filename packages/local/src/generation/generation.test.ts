import { join } from "node:path";
import { readProject } from "@sluice/project/read/project";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it, vi } from "vitest";
import { dataFolderOf } from "../data/data-folder.ts";
import type { CommandPlaces } from "../places.ts";
import { generate, processFolder } from "./generation.ts";

const SAME = { "wrangler.json": '{ "name": "same", "main": "index.js" }', "index.js": "export default {};" };

function world() {
  const files = ["", "a/", "b/"].flatMap((folder) =>
    Object.entries(SAME).map(([name, text]) => [folder + name, text]),
  );
  const workingDirectory = projectFolder(Object.fromEntries(files));
  const folderOf = async (target: string, persistTo?: string) => {
    const project = await readProject({ targets: [target], env: "", workingDirectory });
    const data = dataFolderOf(project, persistTo && join(workingDirectory, persistTo));
    return processFolder(project, data, workingDirectory);
  };
  return { folderOf };
}

it("Workers of one name have folders of their own, by where they lie and by their data", async () => {
  const { folderOf } = world();
  const folders = [
    await folderOf("."),
    await folderOf("a"),
    await folderOf("b"),
    await folderOf(".", "data"),
    await folderOf("a", "data"),
    await folderOf("b", "data"),
    await folderOf("a", "other"),
  ];
  expect(new Set(folders).size).toBe(folders.length);
  expect(folders[0]).toBe("same");
  for (const folder of folders.slice(1)) expect(folder).toMatch(/^same\.[0-9a-f]{8}$/);
});

it("an environment in which a Worker keeps its name has a folder of its own", async () => {
  const environments = { staging: { name: "same" }, live: { name: "same" }, plain: {} };
  const config = JSON.stringify({ name: "same", main: "index.js", env: environments });
  const workingDirectory = projectFolder({ ...SAME, "wrangler.json": config });
  const folderIn = async (env: string) => {
    const project = await readProject({ targets: ["."], env, workingDirectory });
    return processFolder(project, dataFolderOf(project, undefined), workingDirectory);
  };
  const marked = [await folderIn("staging"), await folderIn("live")];
  expect(new Set(marked).size).toBe(2);
  for (const folder of marked) expect(folder).toMatch(/^same\.[0-9a-f]{8}$/);
  expect([await folderIn(""), await folderIn("plain")]).toEqual(["same", "same-plain"]);
});

it("the folder of a Worker stays the same from one start to the next", async () => {
  const { folderOf } = world();
  expect(await folderOf("a")).toBe(await folderOf("a"));
  expect(await folderOf("b", "data")).toBe(await folderOf("b", "data"));
});

it("nothing is written of a project that is refused", async () => {
  const workingDirectory = projectFolder(SAME);
  const write = vi.fn();
  const places = { workingDirectory, environment: {} } as CommandPlaces;
  const check = async () => Promise.reject(new Error("its token is empty"));
  const input = { targets: ["."], env: "", places, purpose: "dev", sessions: null, ownership: null } as const;
  await expect(generate({ ...input, check, write })).rejects.toThrow("its token is empty");
  expect(write).not.toHaveBeenCalled();
});
