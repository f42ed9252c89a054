import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { readProject } from "./project.ts";
// Loading takes seconds on a busy machine, which must not count for a test.
import "wrangler";

const INDEX = "export default { fetch() {}, queue() {} };";
const PACKAGE = '{ "type": "module" }';

function module(name: string, rest: string): string {
  return `export default ({ mode }) => ({
    worker: { name: "${name}" + (mode ? "-" + mode : ""), entrypoint: "./index.js", compatibilityDate: "2026-11-01", ${rest} },
  });`;
}

const SENDER = module("web", 'env: { Q: { type: "queue", name: "q" } }');
const CONSUMER = `name = "post"\nmain = "index.js"\n[[queues.consumers]]\nqueue = "q"\n[env.staging]\n`;

describe("a project with a cloudflare.config.ts", () => {
  it("is one with Workers that have a Wrangler configuration", async () => {
    const folder = projectFolder({
      "package.json": PACKAGE,
      "web/cloudflare.config.ts": SENDER,
      "web/index.js": INDEX,
      "web/wrangler.toml": "[sluice.queues.q]\nmessage_retention_period = 60\n",
      "post/wrangler.toml": CONSUMER,
      "post/index.js": INDEX,
    });
    const targets = ["web", "post"];
    const project = await readProject({ targets, env: "", workingDirectory: folder });
    expect(project.workers.map(({ name, main }) => [name, main])).toEqual([
      ["web", { kind: "default", file: join(folder, "web/index.js") }],
      ["post", { kind: "default", file: join(folder, "post/index.js") }],
    ]);
    expect(project.topology.queues.q).toMatchObject({
      messageRetentionSeconds: 60,
      producers: [{ worker: "web", binding: "Q" }],
      consumer: { worker: "post" },
    });
    expect(project.warnings).toEqual([]);
  });

  it("is in the mode of its environment, as the broker is", async () => {
    const folder = projectFolder({
      "package.json": PACKAGE,
      "cloudflare.config.ts": SENDER,
      "index.js": INDEX,
    });
    const project = await readProject({ targets: [], env: "staging", workingDirectory: folder });
    expect(project.workers.map(({ name }) => name)).toEqual(["web-staging"]);
    expect(project.broker.name).toBe("sluice-staging");
  });

  it("has each warning once, with the key that it is about", async () => {
    const sender = module("web", 'env: { Q: { type: "queue", name: "q", deliveryDelay: 5 } }');
    const folder = projectFolder({
      "package.json": PACKAGE,
      "cloudflare.config.ts": sender,
      "index.js": INDEX,
    });
    const { warnings } = await readProject({ targets: [], env: "", workingDirectory: folder });
    expect(warnings).toEqual([
      expect.stringMatching(/"delivery_delay" field in "worker\.env\.Q" is deprecated/),
      expect.stringMatching(/warning: worker\.env\.Q\.deliveryDelay: Sluice applies it/),
    ]);
  });

  it("depends on what its configuration imports, and on files that may come", async () => {
    const folder = projectFolder({
      "package.json": PACKAGE,
      "names.ts": "export const rest = {};",
      "cloudflare.config.ts": `import { rest } from "./names.ts";\n${SENDER.replace("mode ?", "rest.x ?")}`,
      "index.js": INDEX,
    });
    const { dependencies } = await readProject({ targets: [], env: "", workingDirectory: folder });
    expect([...dependencies].sort()).toEqual(
      [
        ...["cloudflare.config.ts", "names.ts", "wrangler.config.ts"],
        ...["wrangler.json", "wrangler.jsonc", "wrangler.toml"],
      ].map((name) => join(folder, name)),
    );
  });

  it("says that it is not read beside a Worker's Wrangler configuration", async () => {
    const files = { "wrangler.toml": CONSUMER, "index.js": INDEX, "cloudflare.config.ts": SENDER };
    const folder = projectFolder({ "package.json": PACKAGE, ...files });
    const { workers, warnings } = await readProject({ targets: [], env: "", workingDirectory: folder });
    expect(workers.map(({ name }) => name)).toEqual(["post"]);
    expect(warnings).toContainEqual(
      `${join(folder, "cloudflare.config.ts")}: warning: it is not read, because wrangler.toml beside it is a ` +
        "Worker's configuration too. Take out of that all but its [sluice] table, or name the file to use it.",
    );
    const named = { targets: ["cloudflare.config.ts"], env: "", workingDirectory: folder };
    expect((await readProject(named)).workers.map(({ name }) => name)).toEqual(["web"]);
  });
});
