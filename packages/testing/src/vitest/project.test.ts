import { expect, it } from "vitest";
import { projectOf } from "./project.ts";

it.each([
  ["@cloudflare/vitest-plugin", "", "vitest-plugin-runner-"],
  ["@cloudflare/vitest-plugin", "shop & co", "vitest-plugin-runner-shop___co"],
  ["@cloudflare/vitest-pool-workers", "shop", "vitest-pool-workers-runner-shop"],
])("by %s the Worker of a project %o runs as %s", (plugin, name, runner) => {
  const project = { name, config: { root: "/project" }, vite: { config: { plugins: [{ name: plugin }] } } };
  expect(projectOf({ options: { project } })).toEqual({ root: "/project", runner });
});
