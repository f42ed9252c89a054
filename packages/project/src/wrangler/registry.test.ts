import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { registryFolder } from "./registry.ts";

it("the registry is where Wrangler has it", () => {
  const home = projectFolder({});
  expect(registryFolder({ WRANGLER_REGISTRY_PATH: "/its" }, home)).toBe("/its");
  expect(registryFolder({ CLOUDFLARE_DEV_REGISTRY_PATH: "/all", WRANGLER_REGISTRY_PATH: "/its" }, home)).toBe(
    "/all",
  );
  expect(registryFolder({}, home, "linux")).toBe(join(home, ".config/.wrangler/registry"));
  expect(registryFolder({ XDG_CONFIG_HOME: "/xdg" }, home, "darwin")).toBe("/xdg/.wrangler/registry");
  expect(registryFolder({}, home, "darwin")).toBe(join(home, "Library/Preferences/.wrangler/registry"));
  expect(registryFolder({}, home, "win32")).toBe(join(home, "AppData/Roaming/xdg.config/.wrangler/registry"));
  mkdirSync(join(home, ".wrangler"));
  expect(registryFolder({}, home, "linux")).toBe(join(home, ".wrangler/registry"));
});
