import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { ConfigReader } from "./config-reader.ts";
import { refuseMissingMain } from "./missing-main.ts";
import { readWorker } from "./read-worker.ts";

async function refuse(files: Record<string, string>, config = "") {
  const toml = `name = "api"\nmain = "src/index.js"\ncompatibility_date = "2026-11-01"\n${config}`;
  const folder = projectFolder({ "wrangler.toml": toml, ...files });
  const source = { kind: "written", file: join(folder, "wrangler.toml") } as const;
  const { worker } = await readWorker(source, "", new ConfigReader());
  refuseMissingMain([worker]);
}

describe("a Worker whose main does not exist", () => {
  it("is refused with the names of its configuration and of the file", async () => {
    await expect(refuse({})).rejects.toThrow(
      /wrangler\.toml: The entry-point file at "src\/index\.js" was not found\.$/,
    );
  });

  it("is accepted where a custom build makes it, and once it exists", async () => {
    await refuse({ "src/index.js": "export default {};" });
    await refuse({}, '[build]\ncommand = "make"\n');
  });
});
