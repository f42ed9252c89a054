import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { refuseMissingMain } from "./missing-main.ts";
import { readWorker } from "./read-worker.ts";

async function refuse(files: Record<string, string>, config = "") {
  const toml = `name = "api"\nmain = "src/index.js"\ncompatibility_date = "2026-11-01"\n${config}`;
  const folder = projectFolder({ "wrangler.toml": toml, ...files });
  const { worker } = await readWorker({ kind: "written", file: join(folder, "wrangler.toml") }, "");
  refuseMissingMain([worker]);
}

describe("a Worker whose main is not there", () => {
  it("is refused with its configuration and the file as that names it", async () => {
    await expect(refuse({})).rejects.toThrow(
      /wrangler\.toml: The entry-point file at "src\/index\.js" was not found\.$/,
    );
  });

  it("is taken when it is there, and when a custom build makes it", async () => {
    await refuse({ "src/index.js": "export default {};" });
    await refuse({}, '[build]\ncommand = "make"\n');
  });
});
