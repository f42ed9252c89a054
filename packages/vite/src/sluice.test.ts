import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import type { PluginConfig, WorkerConfig } from "@cloudflare/vite-plugin";
import { lockData } from "@sluice/local/data/data-lock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { unstable_readConfig } from "wrangler";
import { sluice } from "./sluice.ts";
import { rootOf } from "./workers-of-project.ts";

const WORKER = {
  name: "shop",
  main: "./src/index.ts",
  compatibility_date: "2026-09-01",
  compatibility_flags: ["disallow_importable_env"],
  queues: { producers: [{ binding: "ORDERS", queue: "orders" }], consumers: [{ queue: "orders" }] },
};

const { argv } = process;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "sluice-vite-unit-"));
  vi.stubEnv("NODE_ENV", "development");
  vi.stubEnv("CLOUDFLARE_ENV", undefined);
  process.argv = ["node", "vite", "dev"];
});
afterEach(() => {
  process.argv = argv;
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Applies the options as Cloudflare's plugin does, and returns every Worker's configuration, the entry's first. */
function read(
  options: PluginConfig,
  workers: Readonly<Record<string, object>> = { "wrangler.json": WORKER },
) {
  const files = Object.entries(workers).map(([name, config]) => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(config));
    mkdirSync(join(dirname(file), "src"), { recursive: true });
    writeFileSync(join(dirname(file), "src/index.ts"), "");
    return file;
  });
  const { config, auxiliaryWorkers = [] } = sluice({ persistState: false, ...options });
  const customizers = [
    config,
    ...auxiliaryWorkers.map((worker) => ("config" in worker ? worker.config : null)),
  ];
  return customizers.map((customizer, i) => {
    const file = files[i] ?? "";
    const settings = { preserveOriginalMain: true, hideWarnings: true };
    const of = structuredClone(unstable_readConfig({ config: file }, settings)) as unknown as WorkerConfig;
    if (typeof customizer !== "function") throw new Error("a customizer is a function");
    expect(customizer(of, { entryWorkerConfig: {} as never })).toBeUndefined();
    return of;
  });
}

it("sluice() leads a Worker's queues to the broker, and leaves the rest of its configuration", () => {
  const [shop, broker] = read({});
  expect(shop).toMatchObject({
    name: "shop",
    main: join(folder, ".sluice/vite/shop/entry.js"),
    queues: { producers: [], consumers: [] },
    compatibility_date: "2026-09-01",
    compatibility_flags: [],
    services: [{ binding: "__SLUICE_BROKER", service: "sluice" }],
  });
  expect(shop?.durable_objects.bindings).toEqual([
    { name: "__SLUICE_QUEUES", class_name: "QueueBroker", script_name: "sluice" },
    { name: "__SLUICE_DIRECTORY", class_name: "Directory", script_name: "sluice" },
  ]);
  expect(broker).toMatchObject({
    name: "sluice",
    main: join(folder, ".sluice/vite/sluice/entry.js"),
    services: [
      { binding: "CONSUMER_SHOP", service: "shop", entrypoint: "SluiceQueueConsumer" },
      { service: "sluice", entrypoint: "QueueBinding" },
    ],
  });
  // Cloudflare's plugin has its own workerd, which starts no Worker of a newer date.
  expect(broker?.compatibility_date).toBe("2026-01-01");
  const entry = readFileSync(join(folder, ".sluice/vite/shop/entry.js"), "utf8");
  expect(entry).toMatch('import * as main from "../../../src/index.ts";');
  expect(readFileSync(join(folder, ".sluice/.gitignore"), "utf8")).toBe("*\n");
});

it("sluice() keeps the name of a main module in a package", () => {
  read({}, { "wrangler.json": { ...WORKER, main: "@tanstack/react-start/server-entry" } });
  const entry = readFileSync(join(folder, ".sluice/vite/shop/entry.js"), "utf8");
  expect(entry).toMatch('import * as main from "@tanstack/react-start/server-entry";');
});

it("sluice() applies the config of the options first: an object, or a function that changes or returns one", () => {
  const objects = { vars: { ONE: "1" }, compatibility_flags: ["nodejs_compat"] };
  expect(read({ config: objects })[0]).toMatchObject(objects);
  expect(read({ config: () => objects })[0]).toMatchObject(objects);
  const change = (config: WorkerConfig) => {
    config.name = "store";
  };
  const [store, broker] = read({ config: change });
  expect(store?.main).toBe(join(folder, ".sluice/vite/store/entry.js"));
  expect(broker?.services).toMatchObject([{ service: "store" }, { service: "sluice" }]);
});

it("sluice() refuses a config that changes queues, because the broker knows those of the file", () => {
  const config = { queues: { producers: [{ binding: "MORE", queue: "more" }], consumers: [] } };
  expect(() => read({ config })).toThrow(/"config" of the Vite plugin changes "queues"/);
});

it("sluice() reads the queues of a wrangler.toml, with and without a config", () => {
  const file = join(folder, "wrangler.toml");
  const text = `name = "shop"
main = "./src/index.ts"
[[queues.consumers]]
queue = "orders"
max_retries = 2
[[queues.producers]]
queue = "orders"
binding = "ORDERS"
`;
  writeFileSync(file, text);
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/index.ts"), "");
  const settings = { preserveOriginalMain: true, hideWarnings: true };
  for (const options of [{}, { config: { vars: { ONE: "1" } } }]) {
    const { config } = sluice({ persistState: false, ...options });
    const of = unstable_readConfig({ config: file }, settings) as unknown as WorkerConfig;
    if (typeof config !== "function") throw new Error("a customizer is a function");
    config(of);
    expect(of).toMatchObject({ main: join(folder, ".sluice/vite/shop/entry.js"), ...options.config });
  }
});

it("sluice() refuses a Worker with the broker's name", () => {
  expect(() => read({}, { "wrangler.json": { ...WORKER, name: "sluice" } })).toThrow(
    /the name of the broker/,
  );
});

it("sluice() says which file has to be changed, without a stack", () => {
  const failure = (workers: Readonly<Record<string, object>>, options: PluginConfig = {}): Error => {
    try {
      read(options, workers);
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error("nothing was refused");
  };
  const typo = { ...WORKER, queues: { consumers: [{ queue: "orders", max_batch_timeout: 100 }] } };
  const ofTypo = failure({ "wrangler.json": typo });
  expect(ofTypo.message).toMatch(
    /wrangler\.json:1: .*should be a number of seconds from 0 to 60 but got 100/,
  );
  expect(inspect(ofTypo)).toBe(`[${ofTypo.message}]`);

  const file = join(folder, "wrangler.json");
  expect(failure({ "wrangler.json": { ...WORKER, main: "./src/indx.ts" } }).message).toBe(
    `${file}: The entry-point file at "src/indx.ts" was not found.`,
  );

  const auxiliaryWorkers = [{ configPath: "post/wrangler.json" }];
  const twins = { "wrangler.json": WORKER, "post/wrangler.json": { ...WORKER, queues: {} } };
  expect(failure(twins, { auxiliaryWorkers }).message).toBe(
    `${join(folder, "post/wrangler.json")}: "shop" is the name of the Worker of ${file} too. ` +
      "Give one of them another name.",
  );
});

it("sluice() adds no front door to auxiliary Workers, and nothing to those without queues", () => {
  const post = { ...WORKER, name: "post", queues: { consumers: [{ queue: "mails" }] } };
  const plain = { ...WORKER, name: "plain", queues: {} };
  const auxiliaryWorkers = [{ configPath: "post/wrangler.json" }, { configPath: "plain/wrangler.json" }];
  const files = { "wrangler.json": WORKER, "post/wrangler.json": post, "plain/wrangler.json": plain };
  const [, first, second, broker] = read({ auxiliaryWorkers }, files);
  expect([first?.main, first?.services ?? []]).toEqual([join(folder, ".sluice/vite/post/entry.js"), []]);
  expect(second?.main).toBe("./src/index.ts");
  expect(broker?.services?.map(({ service }) => service)).toEqual(["post", "shop", "sluice"]);
});

it("sluice() returns the options unchanged without a server, and stops a build that was taken for one", () => {
  const options = { auxiliaryWorkers: [] };
  const { auxiliaryWorkers: [broker] = [] } = sluice(options);
  const { devOnly } = broker ?? {};
  expect(() => typeof devOnly === "function" && devOnly()).toThrow(/took this build for a dev server/);
  vi.stubEnv("NODE_ENV", "production");
  process.argv = ["node", "vite", "build"];
  expect(sluice(options)).toBe(options);
});

it("Vite's root is found by the name of the configuration", () => {
  const cwd = process.cwd();
  expect(rootOf("/web/wrangler.jsonc", undefined)).toBe("/web");
  expect(rootOf("/web/conf/wrangler.jsonc", "./conf/wrangler.jsonc")).toBe("/web");
  expect(rootOf("/web/conf/wrangler.jsonc", "/web/conf/wrangler.jsonc")).toBe(cwd);
  expect(rootOf(join(dirname(cwd), "wrangler.jsonc"), "../wrangler.jsonc")).toBe(cwd);
  expect(rootOf("/web/wrangler.jsonc", "../wrangler.jsonc")).toBe("/web");
});

it("sluice() writes no file where another process has the data", () => {
  const path = join(folder, "state");
  const free = lockData(path, "vite dev");
  try {
    expect(() => read({ persistState: { path } })).toThrow(/in use by vite dev/);
    expect(existsSync(join(folder, ".sluice"))).toBe(false);
  } finally {
    free();
  }
});
