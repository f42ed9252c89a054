import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { generateBrokerConfig } from "../generate/broker-config.ts";
import { wranglerDefaults } from "../wrangler/wrangler-config.ts";
import { readProject } from "./project.ts";
// Loading takes seconds on a busy machine, which must not count for a test.
import "wrangler";

const FILES = {
  "package.json": '{ "type": "module" }',
  "api/wrangler.toml": 'name = "api"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n',
  "api/index.js": "export default { fetch() {}, queue() {} };",
};
const EXPORTS = `exports: {
  QueueBroker: { type: "durable-object", storage: "sqlite" },
  Directory: { type: "durable-object", storage: "sqlite" },
},`;
/** @param name expression for the name of the broker. */
const broker = (name: string, env = "", exports = EXPORTS) => `export default ({ mode }) => ({
  worker: {
    name: ${name}, compatibilityDate: "2026-11-01", domains: ["queues.shop.example"], workersDev: false,
    ${exports}
    ${env}
  },
});`;
const BY_MODE = '"team" + (mode ? "-" + mode : "")';

/** Opens a project whose broker has a configuration of its own in the current folder. */
const open = (module: string, files: Record<string, string> = {}) =>
  projectFolder({ ...FILES, "cloudflare.config.ts": module, ...files });
const read = (folder: string, env = "", named?: string) =>
  readProject({ targets: ["api"], env, workingDirectory: folder, onAccount: { broker: named } });

it("a cloudflare.config.ts that exports the broker's class is the broker's, and no Worker's", async () => {
  const { workers, broker: its } = await read(open(broker('"team"')));
  expect(workers.map(({ name }) => name)).toEqual(["api"]);
  expect(its).toMatchObject({ name: "team", wrangler: { workers_dev: false } });
});

it.each([
  [
    "binds the class of its own",
    `env: { SLUICE_QUEUES: { type: "durable-object", worker: "team", exportName: "QueueBroker" } },`,
    "team",
  ],
  [
    "binds that of another Worker",
    `env: { Q: { type: "durable-object", worker: "other", exportName: "QueueBroker" } },`,
    "sluice",
  ],
])("a cloudflare.config.ts that %s is told apart", async (_, env, name) => {
  const module = broker('"team"', env, "");
  expect((await read(open(module))).broker.name).toBe(name);
});

it("a broker's cloudflare.config.ts names the broker of each mode, with its suffix", async () => {
  expect((await read(open(broker(BY_MODE)), "x")).broker.name).toBe("team-x");
  // Otherwise staging and production share their queues.
  expect((await read(open(broker('"team"')), "x")).broker.name).toBe("team-x");
});

it("a broker's cloudflare.config.ts may be renamed by --broker, and must not contradict a [sluice] table", async () => {
  const folder = open(broker(BY_MODE), { "wrangler.toml": '[sluice]\nbroker = "team"\n' });
  expect((await read(folder, "x")).broker.name).toBe("team-x");
  expect((await read(folder, "x", "other")).broker.name).toBe("other-x");
  writeFileSync(join(folder, "wrangler.toml"), '[sluice]\nbroker = "another"\n');
  await expect(read(folder, "x")).rejects.toThrow(
    `${folder}/wrangler.toml:2: "sluice.broker" is "another", and the broker's own configuration calls it "team" ` +
      `(${folder}/cloudflare.config.ts)`,
  );
});

it("a broker's cloudflare.config.ts generates the classes that one of Wrangler's does", async () => {
  const its = `env: { SLUICE_QUEUES: { type: "durable-object", worker: "team", exportName: "QueueBroker" } },`;
  const { broker: base } = await read(open(broker('"team"', its)), "", "other");
  const config = generateBrokerConfig({
    base,
    purpose: "build",
    vars: {},
    directory: join(base.directory, ".sluice/other"),
    workingDirectory: base.directory,
    defaults: await wranglerDefaults(),
    consumers: [],
    main: { file: "entry.js", isReady: false },
  });
  expect(config).toMatchObject({
    name: "other",
    routes: [{ pattern: "queues.shop.example", custom_domain: true }],
    durable_objects: {
      bindings: [
        { name: "SLUICE_QUEUES", class_name: "QueueBroker" },
        { name: "SLUICE_DIRECTORY", class_name: "Directory" },
      ],
    },
    migrations: [{ tag: "sluice", new_sqlite_classes: ["QueueBroker", "Directory"] }],
  });
  expect(JSON.stringify(config)).not.toMatch(/script_name|exports/);
});

it("a cloudflare.config.ts of the current folder that is no broker's is not run for the Workers of others", async () => {
  const { broker: its } = await read(open('throw new Error("it has been run");'));
  expect(its.name).toBe("sluice");
});
