import { readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generate } from "../../test/generated.ts";
import { projectFolder } from "../../test/project-folder.ts";
import { CliError } from "../errors.ts";
import { makeOutputFolder, writeIfChanged, writePlan } from "./write-plan.ts";

const FILES = {
  "wrangler.toml": 'name = "api"\nmain = "index.js"\n[[queues.producers]]\nbinding = "Q"\nqueue = "q"\n',
  "index.js": "export default {};",
};
const LONG_AGO = new Date(2000, 0, 1);

describe("writePlan", () => {
  it("writes a folder for every Worker and one for the broker", async () => {
    const folder = projectFolder(FILES);
    writePlan((await generate(folder, { purpose: "build" })).plan);
    for (const file of [
      "api/wrangler.json",
      "api/entry.js",
      "api/bindings.js",
      "sluice/wrangler.json",
      "sluice/entry.js",
    ]) {
      expect(statSync(join(folder, ".sluice", file)).isFile()).toBe(true);
    }
  });

  it("does not write an unchanged file, for which Wrangler would reload", async () => {
    const folder = projectFolder(FILES);
    const { plan } = await generate(folder, { purpose: "build" });
    writePlan(plan);
    const file = join(folder, ".sluice/api/wrangler.json");
    utimesSync(file, LONG_AGO, LONG_AGO);
    writePlan(plan);
    expect(statSync(file).mtime).toEqual(LONG_AGO);
  });
});

describe("writeIfChanged", () => {
  it("explains a refusal of the file system", () => {
    const folder = projectFolder({ ".sluice": "a file" });
    const file = join(folder, ".sluice/api/wrangler.json");
    expect(() => writeIfChanged(file, "{}")).toThrow(
      new CliError(`${file} cannot be written: a file stands where a folder should.`),
    );
    expect(() => writeIfChanged(folder, "{}")).toThrow(
      new CliError(`${folder} cannot be written: a folder stands where a file should.`),
    );
  });
});

describe("makeOutputFolder", () => {
  it("keeps the folder out of version control", () => {
    const folder = projectFolder({});
    makeOutputFolder(join(folder, ".sluice"));
    expect(readFileSync(join(folder, ".sluice/.gitignore"), "utf8")).toBe("*\n");
  });
});
