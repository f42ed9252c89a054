import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ViteProject } from "./vite-project.ts";

it("the runtime is started once where bindings name every export of the user's Workers", async () => {
  const project = new ViteProject();
  onTestFinished(() => project.remove());
  const file = join(project.folder, "src/index.ts");
  // No binding names it, so Cloudflare's plugin would start the runtime anew without the broker too.
  writeFileSync(file, readFileSync(file, "utf8").replace("export class Office", "class Office"));
  const server = await project.dev({ NODE_DEBUG: "@cloudflare:vite-plugin" });
  await server.stop();
  expect(server.printed().match(/(?:Creating new|Updating the existing) Miniflare instance/g)).toEqual([
    "Creating new Miniflare instance",
  ]);
});
