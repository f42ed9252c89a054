import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { configOf, generate } from "../../test/generated.ts";
import { projectFolder } from "../../test/project-folder.ts";
import { readWranglerConfig } from "../wrangler/wrangler-config.ts";

const MODULE = "export class Counter {}\nexport default { fetch() {}, queue() {} };\n";
const HEAD = 'name = "api"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';
const PRODUCER = '[[queues.producers]]\nbinding = "Q"\nqueue = "orders"\n';
const CONSUMER = '[[queues.consumers]]\nqueue = "orders"\n';

async function generated(toml: string, options: { purpose: "dev" | "build"; env?: string }) {
  const folder = projectFolder({ "wrangler.toml": toml, "src/index.ts": MODULE });
  const { plan } = await generate(folder, options);
  return { folder, plan, config: configOf(plan, plan.workers[0]?.name ?? "") };
}

describe("a Worker that sends and receives", () => {
  it("keeps its name and date, loses its queues and gets a Durable Object binding to the broker", async () => {
    const { config } = await generated(HEAD + PRODUCER + CONSUMER, { purpose: "build" });
    expect(config).toEqual({
      name: "api",
      topLevelName: "api",
      main: "./entry.js",
      base_dir: "../../src",
      compatibility_date: "2026-11-01",
      durable_objects: {
        bindings: [
          { name: "__SLUICE_QUEUES", class_name: "QueueBroker", script_name: "sluice" },
          { name: "__SLUICE_DIRECTORY", class_name: "Directory", script_name: "sluice" },
        ],
      },
    });
  });

  it("keeps its own Durable Objects, in front of ours", async () => {
    const own = '[[durable_objects.bindings]]\nname = "C"\nclass_name = "Counter"\n';
    const { config } = await generated(HEAD + PRODUCER + own, { purpose: "build" });
    expect(config.durable_objects).toEqual({
      bindings: [
        { name: "C", class_name: "Counter" },
        { name: "__SLUICE_QUEUES", class_name: "QueueBroker", script_name: "sluice" },
        { name: "__SLUICE_DIRECTORY", class_name: "Directory", script_name: "sluice" },
      ],
    });
  });
});

describe("a Worker with settings for all its Durable Objects", () => {
  it("keeps them beside our binding", async () => {
    const strategy = '[durable_objects]\ncode_update_strategy = { mode = "deferred", max_delay = 5 }\n';
    const { config } = await generated(HEAD + strategy + PRODUCER, { purpose: "build" });
    expect(config.durable_objects).toMatchObject({
      code_update_strategy: { max_delay: 5 },
      bindings: [{}, {}],
    });
  });
});

describe("a Worker that only receives", () => {
  it("gets no binding at all", async () => {
    const { config } = await generated(HEAD + CONSUMER, { purpose: "build" });
    expect(config).not.toHaveProperty("durable_objects");
    expect(config).not.toHaveProperty("services");
  });
});

describe("a Worker that has nothing to do with queues", () => {
  it("runs its own main module when it is built", async () => {
    const { config, plan } = await generated(HEAD, { purpose: "build" });
    expect(config.main).toBe("../../src/index.ts");
    expect(Object.keys(plan.workers[0]?.files ?? {})).toEqual(["wrangler.json"]);
  });
});

describe("the primary Worker of sluice dev", () => {
  it("gets a service binding to the broker, and its own port stays", async () => {
    const { config } = await generated(`${HEAD}[dev]\nport = 9000`, { purpose: "dev" });
    expect(config.services).toEqual([{ binding: "__SLUICE_BROKER", service: "sluice" }]);
    expect(config.dev).toMatchObject({ port: 9000 });
    expect(config.main).toBe("./entry.js");
  });

  it("serves its static assets as before where it has no code", async () => {
    const toml = 'name = "site"\ncompatibility_date = "2026-11-01"\n[assets]\ndirectory = "public"\n';
    const { config } = await generated(toml, { purpose: "dev" });
    expect(config.main).toBe("./entry.js");
    expect(config).not.toHaveProperty("base_dir");
    expect(config.assets).toEqual({
      directory: "../../public",
      binding: "__SLUICE_ASSETS",
      run_worker_first: true,
    });
  });
});

describe("the other Workers of sluice dev", () => {
  it("leave the port to the primary one", async () => {
    const folder = projectFolder({
      "a/wrangler.toml": 'name = "a"\nmain = "index.js"\n',
      "a/index.js": MODULE,
      "b/wrangler.toml": 'name = "b"\nmain = "index.js"\n[dev]\nport = 9000\n',
      "b/index.js": MODULE,
    });
    const { plan } = await generate(folder, { purpose: "dev", targets: ["a", "b"] });
    expect(configOf(plan, "b")).not.toHaveProperty("dev");
    expect(configOf(plan, "b")).not.toHaveProperty("services");
  });
});

describe("environments", () => {
  const toml =
    `${HEAD}[vars]\nSTAGE = "production"\n[env.staging.vars]\nSTAGE = ` +
    `"staging"\n[[env.staging.queues.producers]]\nbinding = "Q"\nqueue = "orders-staging"\n`;

  it("flatten to the chosen one, and its bindings lead to a broker of its own", async () => {
    const { config } = await generated(toml, { purpose: "build", env: "staging" });
    expect(config).toMatchObject({
      name: "api-staging",
      topLevelName: "api",
      definedEnvironments: ["staging"],
      targetEnvironment: "staging",
      vars: { STAGE: "staging" },
      durable_objects: {
        bindings: [
          { name: "__SLUICE_QUEUES", script_name: "sluice-staging" },
          { name: "__SLUICE_DIRECTORY", script_name: "sluice-staging" },
        ],
      },
    });
  });

  it("are not named in a file that Wrangler gets by name", async () => {
    const { config } = await generated(toml, { purpose: "dev", env: "staging" });
    expect(config.name).toBe("api-staging");
    for (const key of ["env", "topLevelName", "definedEnvironments", "targetEnvironment"]) {
      expect(config).not.toHaveProperty(key);
    }
  });
});

describe("modules that are uploaded one by one", () => {
  it("find_additional_modules bundles the main module into the entry through an alias", async () => {
    const { config, folder, plan } = await generated(`find_additional_modules = true\n${HEAD}${PRODUCER}`, {
      purpose: "build",
    });
    expect(config).toMatchObject({
      find_additional_modules: true,
      base_dir: "../../src",
      alias: { "sluice:user-main": join(folder, "src/index.ts") },
    });
    expect(plan.workers[0]?.files["entry.js"]).toContain('from "sluice:user-main"');
  });

  it("no_bundle bundles the entry, and the modules beside it stay apart", async () => {
    const { config } = await generated(`no_bundle = true\n${HEAD}${PRODUCER}`, { purpose: "build" });
    expect(config.find_additional_modules).toBe(true);
    expect(config).not.toHaveProperty("no_bundle");
    expect(config.alias).toHaveProperty(["sluice:user-main"]);
  });

  it("no_bundle has a main module below the base bundled with its modules, since paths from the entry are others", async () => {
    const toml = `no_bundle = true\nbase_dir = "."\n${HEAD}${PRODUCER}`;
    const { config, plan } = await generated(toml, { purpose: "build" });
    expect(config).not.toHaveProperty("no_bundle");
    expect(config).not.toHaveProperty("find_additional_modules");
    expect(config).not.toHaveProperty("alias");
    expect(plan.workers[0]?.files["entry.js"]).toContain('from "../../src/index.ts"');
  });

  it("no_bundle of a Worker without queues stays as it is", async () => {
    const { config } = await generated(`no_bundle = true\n${HEAD}`, { purpose: "build" });
    expect(config.no_bundle).toBe(true);
    expect(config).not.toHaveProperty("alias");
  });
});

describe("disallow_importable_env", () => {
  const toml = `compatibility_flags = ["nodejs_compat", "disallow_importable_env"]\n${HEAD}`;

  it("is removed where bindings are replaced through the importable env", async () => {
    const { config } = await generated(toml + PRODUCER, { purpose: "build" });
    expect(config.compatibility_flags).toEqual(["nodejs_compat"]);
  });

  it("stays on a Worker that only receives", async () => {
    const { config } = await generated(toml + CONSUMER, { purpose: "build" });
    expect(config.compatibility_flags).toEqual(["nodejs_compat", "disallow_importable_env"]);
  });
});

describe("everything that is not about queues", () => {
  const toml = `${HEAD}
tsconfig = "tsconfig.json"
jsx_factory = "h"
minify = true
rules = [{ type = "Text", globs = ["**/*.md"], fallthrough = true }]
compatibility_flags = ["nodejs_compat"]
workers_dev = false
routes = [{ pattern = "example.com/*", zone_name = "example.com" }]
keep_vars = true
logpush = true
[triggers]
crons = ["*/5 * * * *"]
[vars]
TEXT = "a"
JSON = { b = [1, true] }
[define]
VERSION = "'1'"
[observability]
enabled = true
[limits]
cpu_ms = 100
[[kv_namespaces]]
binding = "KV"
id = "1"
[[r2_buckets]]
binding = "R2"
bucket_name = "bucket"
[[d1_databases]]
binding = "DB"
database_name = "d"
database_id = "1"
[[durable_objects.bindings]]
name = "C"
class_name = "Counter"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["Counter"]
[[services]]
binding = "OTHER"
service = "other"
entrypoint = "Rpc"
[[workflows]]
binding = "W"
name = "w"
class_name = "Flow"
script_name = "flows"
[[hyperdrive]]
binding = "H"
id = "1"
[[analytics_engine_datasets]]
binding = "AE"
[[send_email]]
name = "MAIL"
[[tail_consumers]]
service = "tail"
[[unsafe.bindings]]
name = "U"
type = "u"
[ai]
binding = "AI"
[version_metadata]
binding = "V"
${PRODUCER}`;

  /** Reads a file by Wrangler, without the keys that differ on purpose in a generated one. */
  async function reading(file: string) {
    const { config } = await readWranglerConfig(file, { env: "", quiet: true });
    const { durable_objects, main, base_dir, queues, ...same } = config;
    const { configPath, userConfigPath, topLevelName, targetEnvironment, definedEnvironments, ...rest } =
      same;
    const own = durable_objects.bindings.filter(({ name }) => !name.startsWith("__SLUICE"));
    return { ...rest, durable_objects: own };
  }

  it("reads back as Wrangler reads the user's own file", async () => {
    const { folder, plan } = await generated(toml, { purpose: "build" });
    const [worker] = plan.workers;
    const file = worker?.configFile ?? "";
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, worker?.files["wrangler.json"] ?? "");
    expect(await reading(file)).toEqual(await reading(join(folder, "wrangler.toml")));
  });
});
