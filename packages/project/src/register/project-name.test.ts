import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { projectNameIn } from "./project-name.ts";

it("a project has the name of the nearest package.json with one", () => {
  const folder = projectFolder({
    "package.json": '{ "name": "@shop/all" }',
    "apps/web/package.json": '{ "private": true }',
    "apps/mailer/package.json": '{ "name": "mailer" }',
    "apps/broken/package.json": "{",
  });
  const names = [".", "apps/web", "apps/mailer", "apps/broken"].map((one) =>
    projectNameIn(join(folder, one)),
  );
  expect(names).toEqual(["@shop/all", "@shop/all", "mailer", "@shop/all"]);
});

it("a project without a package.json has the name of its folder", () => {
  const folder = projectFolder({});
  mkdirSync(join(folder, "a"));
  expect(projectNameIn(folder)).toBe(basename(folder));
});
