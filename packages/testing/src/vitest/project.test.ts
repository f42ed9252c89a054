import { join } from "node:path";
import { expect, it } from "vitest";
import { projectOf } from "./project.ts";

it.each([
  ["@cloudflare/vitest-plugin", "", "vitest-plugin-runner-"],
  ["@cloudflare/vitest-plugin", "shop & co", "vitest-plugin-runner-shop___co"],
  ["@cloudflare/vitest-pool-workers", "shop", "vitest-pool-workers-runner-shop"],
])("the runner of %s names the Worker of a project %o so: %s", (plugin, name, runner) => {
  const vite = { config: { plugins: [{ name: plugin }], mode: "staging" } };
  const project = { name, config: { root: "/project" }, vite };
  const expected = { root: "/project", pluginFolder: null, mode: "staging", runner };
  expect(projectOf({ options: { project } })).toMatchObject(expected);
});

it("projectOf finds the plugin of the project", () => {
  const plugin = "@cloudflare/vitest-plugin";
  const project = {
    name: "",
    config: { root: import.meta.dirname },
    vite: { config: { plugins: [{ name: plugin }] } },
  };
  const { pluginFolder } = projectOf({ options: { project } });
  expect(pluginFolder?.endsWith(join("node_modules", plugin))).toBe(true);
});
