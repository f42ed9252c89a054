import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { type ChildOptions, WranglerChild } from "./child.ts";
import { CLOUDFLARE_CONFIG_VERSION_MIN, readCloudflareConfigFile } from "./cloudflare-config.ts";
import { wranglerFile } from "./load-wrangler.ts";
import { readInTime } from "./reading-limit.ts";

const started: WranglerChild[] = [];
afterAll(() => {
  for (const child of started) child[Symbol.dispose]();
});

/** Starts a process that reads configurations, with what it prints. */
function start(
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
  options: Pick<ChildOptions, "readingMsMax" | "onStuck"> = {},
) {
  const { CLOUDFLARE_ENV: _, ...env } = process.env;
  const printed = { text: "" };
  const child = new WranglerChild({
    cwd,
    env: { ...env, WRANGLER_SEND_METRICS: "false", ...variables },
    file: wranglerFile(),
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    onStart: ({ stdout, stderr }) => {
      for (const stream of [stdout, stderr]) {
        stream?.on("data", (chunk: Buffer) => {
          printed.text += chunk;
        });
      }
    },
  });
  started.push(child);
  return { answers: child.answers, printed };
}

const { answers } = start(process.cwd());
const folderWith = (files: Readonly<Record<string, string>>) =>
  projectFolder({ "package.json": '{ "type": "module" }', ...files });
const read = (folder: string, mode = "") =>
  answers.readCloudflareConfig(join(folder, "cloudflare.config.ts"), mode);

const worker = (rest: string) =>
  `export default { worker: { name: "a", compatibilityDate: "2026-11-01", ${rest} } };`;
const BY_MODE = `
  import { queue } from "./queues.ts";
  import * as entrypoint from "./src/index.ts" with { type: "cf-worker" };
  export default async ({ mode }) => ({
    worker: {
      name: "shop-" + mode, entrypoint, compatibilityDate: "2026-11-01",
      env: { Q: { type: "queue", name: queue } },
      triggers: [{ type: "scheduled", schedule: "* * * * *" }, { type: "queue", name: queue, maxRetries: 2 }],
    },
  });
`;

describe("a cloudflare.config.ts", () => {
  it("is read with all that it imports, in its mode, by Wrangler", async () => {
    const folder = folderWith({
      "cloudflare.config.ts": BY_MODE,
      "queues.ts": 'export const queue: string = "orders";',
      "wrangler.config.ts": "export default { dev: { port: 4321 } };",
    });
    const { config, converted, dependencies, warnings } = await read(folder, "staging");
    const consumer = { queue: "orders", max_retries: 2 };
    expect(config).toMatchObject({
      name: "shop-staging",
      main: join(folder, "src/index.ts"),
      configPath: join(folder, "cloudflare.config.ts"),
      queues: { producers: [{ binding: "Q", queue: "orders" }], consumers: [consumer] },
      triggers: { crons: ["* * * * *"] },
      dev: { port: 4321 },
    });
    expect(converted).toMatchObject({ root: { queues: { consumers: [consumer] } }, consumerTriggers: [1] });
    expect([...dependencies].sort()).toEqual(
      ["cloudflare.config.ts", "queues.ts", "wrangler.config.ts"].map((name) => join(folder, name)),
    );
    expect(warnings).toBe("");
    writeFileSync(join(folder, "queues.ts"), 'export const queue = "others";');
    expect((await read(folder)).config).toMatchObject({
      name: "shop-undefined",
      queues: { consumers: [{ queue: "others" }] },
    });
  });

  it("has its types written where Wrangler writes them: in the current folder, and in no other", async () => {
    const folder = folderWith({
      "cloudflare.config.ts": worker(""),
      "wrangler.config.ts": "export default { types: { includeRuntime: false } };",
    });
    const file = join(folder, "cloudflare.config.ts");
    const types = join(folder, ".cloudflare/types/index.d.ts");
    await answers.writeCloudflareTypes(file, "");
    expect(existsSync(types)).toBe(false);
    await start(folder).answers.writeCloudflareTypes(file, "");
    expect(readFileSync(types, "utf8")).toContain('import("../../cloudflare.config")');
  });

  it("is run once for its reading and its types", async () => {
    const folder = folderWith({
      "cloudflare.config.ts": `console.log("run");\n${worker("")}`,
      "wrangler.config.ts": "export default { types: { includeRuntime: false } };",
    });
    const file = join(folder, "cloudflare.config.ts");
    const { answers: its, printed } = start(folder);
    await its.readCloudflareConfig(file, "");
    await its.writeCloudflareTypes(file, "");
    expect(existsSync(join(folder, ".cloudflare/types/index.d.ts"))).toBe(true);
    await expect.poll(() => printed.text).toContain("Regenerated");
    expect(printed.text.match(/^run$/gm)).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "a wrong key",
      { "cloudflare.config.ts": worker("triggers: [{ type: 'queue', name: 'q', maxRetrys: 1 }]") },
      /^FOLDER\/cloudflare\.config\.ts: worker\.triggers\[0\]: Unrecognized key: "maxRetrys"$/,
    ],
    [
      "a wrong value",
      { "cloudflare.config.ts": worker("triggers: [{ type: 'queue', name: 1 }]") },
      /^FOLDER\/cloudflare\.config\.ts: worker\.triggers\[0\]\.name: .*expected string, received number$/,
    ],
    [
      "several mistakes",
      { "cloudflare.config.ts": worker("a: 1, triggers: [{ type: 'queue', name: 'q', b: 1 }]") },
      /^FOLDER\/cloudflare\.config\.ts: worker: .*"a"\nFOLDER\/cloudflare\.config\.ts: worker\.triggers\[0\]: .*"b"$/,
    ],
    [
      "no Worker",
      { "cloudflare.config.ts": "export default {};" },
      /^FOLDER\/cloudflare\.config\.ts: .*must define a Worker/,
    ],
    [
      "a syntax error",
      { "cloudflare.config.ts": "export default {\n  worker: }" },
      /^FOLDER\/cloudflare\.config\.ts:2: /,
    ],
    [
      "an error of a module that it imports",
      { "cloudflare.config.ts": 'import "./a.ts";', "a.ts": '\nthrow new Error("no token");' },
      /^FOLDER\/a\.ts:2: no token$/,
    ],
    [
      "something without words that it throws",
      { "cloudflare.config.ts": "export default { get worker() { throw Object.create(null); } };" },
      /^FOLDER\/cloudflare\.config\.ts: it has thrown something without words$/,
    ],
    [
      "a missing module",
      { "cloudflare.config.ts": 'import "./a.ts";' },
      /^FOLDER\/cloudflare\.config\.ts: Cannot find module/,
    ],
    [
      "a mistake in the tooling file",
      { "cloudflare.config.ts": worker(""), "wrangler.config.ts": "export default { dev: { prt: 1 } };" },
      /^FOLDER\/wrangler\.config\.ts: dev\.prt is not/,
    ],
    [
      "a name that Wrangler refuses",
      { "cloudflare.config.ts": worker("").replace('"a"', '"A B"') },
      /cloudflare\.config\.ts configuration:\n.*"name"/,
    ],
  ])("is refused with file and key for %s", async (_, files, expected) => {
    const folder = folderWith(files);
    const error = await read(folder).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message.replaceAll(folder, "FOLDER")).toMatch(expected);
  });

  it("is refused by the version of a Wrangler that cannot load it", async () => {
    const folder = projectFolder({});
    const wrangler = join(folder, "node_modules/wrangler");
    mkdirSync(wrangler, { recursive: true });
    writeFileSync(join(wrangler, "package.json"), '{ "version": "4.135.9", "main": "dist/cli.js" }');
    mkdirSync(join(wrangler, "dist"));
    writeFileSync(
      join(wrangler, "dist/cli.js"),
      "async function loadNewConfig() {}\nfunction normalizeAndValidateConfig() {}",
    );
    vi.resetModules();
    onTestFinished(() => {
      vi.resetModules();
    });
    const { takeWrangler } = await import("./load-wrangler.ts");
    const its = await import("./cloudflare-config.ts");
    takeWrangler(join(wrangler, "dist/cli.js"));
    await expect(its.readCloudflareConfigFile("/app/cloudflare.config.ts", "")).rejects.toThrow(
      `/app/cloudflare.config.ts: Wrangler ${CLOUDFLARE_CONFIG_VERSION_MIN} or newer loads it, and ${wrangler} is ` +
        "4.135.9. Install another one: npm install --save-dev wrangler@latest",
    );
  });

  it("is refused by a Node.js that loads no TypeScript, with the version that does", async () => {
    vi.spyOn(process.features, "typescript", "get").mockReturnValue(false);
    await expect(readCloudflareConfigFile("/app/cloudflare.config.ts", "")).rejects.toThrow(
      `/app/cloudflare.config.ts: Node.js 22.18 or later loads it, and this is ${process.versions.node}.`,
    );
    vi.restoreAllMocks();
  });
});

it("a cloudflare.config.ts beside a package.json of CommonJS is refused with what to change there", async () => {
  const folder = projectFolder({
    "package.json": '{ "type": "commonjs" }',
    "a/cloudflare.config.ts": worker(""),
  });
  await expect(answers.readCloudflareConfig(join(folder, "a/cloudflare.config.ts"), "")).rejects.toThrow(
    `cloudflare.config.ts: it is an ES module, and ${join(folder, "package.json")} says that it is not. Change ` +
      '"type": "commonjs" there to "type": "module".',
  );
});

it.each([
  ["an export", `export const sluice = { queues: {} };\n${worker("")}`],
  ["a key", worker("").replace("worker:", "sluice: {}, worker:")],
])("a cloudflare.config.ts with settings of Sluice is refused with where they go: %s", async (_, text) => {
  const folder = folderWith({ "cloudflare.config.ts": text });
  const refused = await read(folder).catch((error: Error) => error.message);
  expect(refused).toBe(
    `${join(folder, "cloudflare.config.ts")}: The settings of Sluice go into the [sluice] table of a wrangler.toml ` +
      "beside this file that holds nothing else.",
  );
});

describe("a cloudflare.config.ts that goes wrong in its own time", { tags: "slow" }, () => {
  const EXPORTED = worker("");
  const WITH_LIMIT = { readingMsMax: 4_000 };

  it.each([
    ["throws", 'setTimeout(() => { throw new Error("later boom"); }, 50);', "boom"],
    ["rejects", 'setTimeout(() => Promise.reject(new Error("later boom")), 50);', "boom"],
    ["rejects with what is no error", 'setTimeout(() => Promise.reject("later boom"), 50);', "boom"],
  ])("%s after it was read, and the process says so and goes on", async (_, text) => {
    const folder = folderWith({ "cloudflare.config.ts": `${text}\n${EXPORTED}` });
    const file = join(folder, "cloudflare.config.ts");
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const { answers: its } = start(folder);
    await its.readCloudflareConfig(file, "");
    await expect
      .poll(() => warn.mock.calls.join())
      .toMatch(/cloudflare\.config\.ts(:1)?: warning: it failed after it had been read: later boom$/);
    expect((await its.readCloudflareConfig(file, "")).config.name).toBe("a");
  });

  it("says so once, and again when a module that it imports has changed", async () => {
    const folder = folderWith({
      "cloudflare.config.ts": `import "./late.ts";\n${EXPORTED}`,
      "late.ts": 'setTimeout(() => { console.log("run"); throw new Error("boom"); }, 10);',
    });
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const { answers: its, printed } = start(folder);
    const run = async (times: number) => {
      await its.readCloudflareConfig(join(folder, "cloudflare.config.ts"), "");
      await expect.poll(() => printed.text.match(/^run$/gm)).toHaveLength(times);
      // What it has said by then has come before this answer.
      await its.defaults();
      return warn.mock.calls.filter(([line]) => String(line).startsWith(join(folder, "late.ts"))).length;
    };
    expect(await run(1)).toBe(1);
    expect(await run(2)).toBe(1);
    writeFileSync(join(folder, "late.ts"), readFileSync(join(folder, "late.ts")));
    expect(await run(3)).toBe(2);
  });

  it("is not waited for in the process of a command either", async () => {
    await expect(readInTime("/a.ts", new Promise(() => {}), 10)).rejects.toThrow(
      "/a.ts: it has not come to its end after 0.01 s. Look for a loop, or an await of something that never comes.",
    );
    expect(await readInTime("/a.ts", Promise.resolve("read"))).toBe("read");
  });

  it("has its whole time where Wrangler is loaded slowly", async () => {
    const slow = "const end = Date.now() + 6_500;\nwhile (Date.now() < end);\n";
    const folder = folderWith({ "cloudflare.config.ts": EXPORTED, "slow.cjs": slow });
    const late = { NODE_OPTIONS: `--require ${join(folder, "slow.cjs")}` };
    const { answers: its } = start(folder, late, WITH_LIMIT);
    expect((await its.readCloudflareConfig(join(folder, "cloudflare.config.ts"), "")).config.name).toBe("a");
  });

  it("ends the process that reads it", async () => {
    const folder = folderWith({ "cloudflare.config.ts": `process.exit(3);\n${EXPORTED}` });
    const file = join(folder, "cloudflare.config.ts");
    const { answers: its } = start(folder);
    await expect(its.readCloudflareConfig(file, "")).rejects.toThrow(
      `${file}: it has ended the process that reads it, with exit code 3.`,
    );
    await expect(its.defaults()).resolves.toBeDefined();
  });

  it.each([
    ["waits for ever", "await new Promise(() => {});", false],
    ["loops", "for (;;);", true],
    ["loops with an await of what is there", "for (;;) await 0;", true],
  ])("%s, and is not waited for", async (_, text, isStuck) => {
    const folder = folderWith({ "cloudflare.config.ts": EXPORTED });
    const file = join(folder, "cloudflare.config.ts");
    const onStuck = vi.fn();
    const { answers: its } = start(folder, {}, { ...WITH_LIMIT, onStuck });
    // Wrangler is loaded from then on.
    await expect.poll(() => its.readCloudflareConfig(file, "").catch(() => null)).not.toBeNull();
    writeFileSync(file, `${text}\n${EXPORTED}`);
    await expect(its.readCloudflareConfig(file, "")).rejects.toThrow(
      `${file}: it has not come to its end after 4 s. Look for a loop`,
    );
    expect(onStuck).toHaveBeenCalledTimes(isStuck ? 1 : 0);
    writeFileSync(file, EXPORTED);
    await expect.poll(() => its.readCloudflareConfig(file, "").catch(() => null)).not.toBeNull();
  });
});
