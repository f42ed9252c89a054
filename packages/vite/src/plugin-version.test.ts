import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { refuseUnknownPlugin } from "./plugin-version.ts";

const PLUGIN = "node_modules/@cloudflare/vite-plugin";

function projectWith(version: string): string {
  const manifest = JSON.stringify({ name: "@cloudflare/vite-plugin", version, exports: "./index.js" });
  return projectFolder({ [`${PLUGIN}/package.json`]: manifest, [`${PLUGIN}/index.js`]: "" });
}

it.each(["1.64.0", "1.999.0"])("version %s of Cloudflare's plugin is taken", (version) => {
  expect(() => refuseUnknownPlugin(projectWith(version))).not.toThrow();
});

it.each(["2.0.0-beta.v.12", "2.0.0", "10.1.0"])("version %s of Cloudflare's plugin is refused", (version) => {
  const root = projectWith(version);
  expect(() => refuseUnknownPlugin(root)).toThrow(
    `@sluice/vite works with @cloudflare/vite-plugin 1, from 1.64 on, and ${join(root, PLUGIN)} is ${version}. ` +
      "Install that: npm install --save-dev @cloudflare/vite-plugin@1",
  );
});

it("a project whose plugin cannot be found is not refused", () => {
  expect(() => refuseUnknownPlugin(projectFolder({}))).not.toThrow();
});
