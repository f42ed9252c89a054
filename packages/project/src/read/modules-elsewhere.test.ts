import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { readProject } from "./project.ts";

const INDEX = "export default { fetch() {}, queue() {} };";

function worker(name: string, rest: string): string {
  return `name = "${name}"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n${rest}`;
}

it("never runs the module of another process, and takes what that process has read of it", async () => {
  const folder = projectFolder({
    "api/wrangler.toml": worker("api", '[[queues.producers]]\nbinding = "Q"\nqueue = "orders"\n'),
    "api/index.js": INDEX,
    "package.json": '{ "type": "module" }',
    "post/cloudflare.config.ts": `import { writeFileSync } from "node:fs";
      writeFileSync(new URL("./ran", import.meta.url), "");
      export default { worker: { name: "post", compatibilityDate: "2026-11-01" } };`,
  });
  const file = join(folder, "post/cloudflare.config.ts");
  const root = { name: "post", queues: { consumers: [{ queue: "orders" }] } };
  const modulesElsewhere = { [file]: { root, consumerTriggers: [0] } };
  const own = { targets: ["api"], env: "", workingDirectory: folder };
  for (const role of ["filesElsewhere", "filesJoined", "filesSending"]) {
    const options = { ...own, [role]: [file] };
    expect((await readProject(options)).elsewhere).toEqual([]);
    const { elsewhere, dependencies, modules } = await readProject({ ...options, modulesElsewhere });
    expect(elsewhere).toEqual(["post"]);
    expect(dependencies).toContain(join(folder, "post/wrangler.toml"));
    expect(modules).toEqual({});
  }
  expect(existsSync(join(folder, "post/ran"))).toBe(false);
});

it("tells other processes the queues of a module, and none of its variables", async () => {
  const folder = projectFolder({
    "package.json": '{ "type": "module" }',
    "index.js": INDEX,
    "cloudflare.config.ts": `export default { worker: {
      name: "post", entrypoint: "index.js", compatibilityDate: "2026-11-01",
      env: { TOKEN: { type: "text", value: "secret" } },
      triggers: [{ type: "queue", name: "orders" }],
    } };`,
  });
  const { modules } = await readProject({ targets: ["."], env: "", workingDirectory: folder });
  const root = { name: "post", queues: { consumers: [{ queue: "orders" }] } };
  expect(modules).toMatchObject({ [join(folder, "cloudflare.config.ts")]: { root, consumerTriggers: [0] } });
  expect(JSON.stringify(modules)).not.toContain("secret");
});
