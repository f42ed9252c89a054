import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { archivesFolder } from "./archives.ts";

const NOWHERE = "/elsewhere/main.js";

it.each([
  ["npm", "file:../packed/sluice-0.1.0.tgz"],
  ["a path", "../packed/sluice-0.1.0.tgz"],
])("the archives are where the project's manifest has one: %s", (_, spec) => {
  const folder = projectFolder({
    "packed/sluice-0.1.0.tgz": "",
    "shop/package.json": JSON.stringify({ devDependencies: { sluice: spec } }),
  });
  expect(archivesFolder(join(folder, "shop"), NOWHERE)).toBe(join(folder, "packed"));
});

it("the archives are where the running command was installed from", () => {
  const folder = projectFolder({
    "packed/sluice-0.1.0.tgz": "",
    "npx/package.json": JSON.stringify({ dependencies: { sluice: "file:../packed/sluice-0.1.0.tgz" } }),
    "shop/package.json": "{}",
  });
  for (const inside of ["node_modules/sluice", "node_modules/.pnpm/sluice@x/node_modules/sluice"]) {
    const command = join(folder, "npx", inside, "dist/main.js");
    expect(archivesFolder(join(folder, "shop"), command)).toBe(join(folder, "packed"));
  }
});

it.each([
  ["of a version", "^0.1.0"],
  ["at an address", "https://example.com/sluice-0.1.0.tgz"],
  ["that is gone", "file:../packed/sluice-0.1.0.tgz"],
])("no archives are known by a dependency %s", (_, spec) => {
  const folder = projectFolder({ "package.json": JSON.stringify({ devDependencies: { sluice: spec } }) });
  expect(archivesFolder(folder, NOWHERE)).toBeNull();
});
