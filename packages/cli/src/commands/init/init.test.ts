import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { collected } from "../../../test/collected.ts";
import { run } from "../../command-line.ts";
import { changesFor } from "./changes.ts";
import { runnable } from "./init.ts";

const WRANGLER = { "wrangler.jsonc": "{}" };
const VITE = `import { cloudflare } from "@cloudflare/vite-plugin";
import { defineConfig } from 'vite'

// Kept as it is, without sluice().
export default defineConfig(({ mode }) => ({
	plugins: [cloudflare({ configPath: './shop.jsonc', persistState: true }),],
}))
`;

function changed(files: Readonly<Record<string, string>>) {
  const changes = changesFor(projectFolder(files));
  const after = Object.fromEntries(changes.files.map(({ name, after }) => [name, after]));
  return { ...changes, after };
}

function manifest(rest: object, indent = 2): string {
  return `${JSON.stringify({ name: "shop", ...rest }, null, indent)}\n`;
}

it("init puts sluice() around the options of Cloudflare's Vite plugin, and leaves the rest as it is written", () => {
  const { after, packages, notes } = changed({
    ...WRANGLER,
    "package.json": manifest({}),
    "vite.config.ts": VITE,
  });
  const imported = 'import { cloudflare } from "@cloudflare/vite-plugin";\n';
  expect(after).toEqual({
    "vite.config.ts": VITE.replace(imported, `${imported}import { sluice } from "@sluice/vite";\n`).replace(
      /cloudflare\(({[^}]*})\)/,
      "cloudflare(sluice($1))",
    ),
  });
  expect(packages).toEqual(["@sluice/vite"]);
  expect(notes).toEqual([]);
});

it("init puts sluice() where there are no options, under any name that the plugin is imported by", () => {
  const text =
    'import { cloudflare as workers } from "@cloudflare/vite-plugin";\n' +
    "export default { plugins: [workers()] };\n";
  const { after } = changed({ ...WRANGLER, "package.json": manifest({}), "vite.config.mjs": text });
  expect(after["vite.config.mjs"]).toContain('import { sluice } from "@sluice/vite";');
  expect(after["vite.config.mjs"]).toContain("plugins: [workers(sluice())]");
});

it("init puts sluice() around the options of Cloudflare's Vitest plugin, where they name a configuration", () => {
  const text = (options: string) =>
    'import { cloudflareTest } from "@cloudflare/vitest-plugin";\n' +
    `export default { plugins: [cloudflareTest(${options})] };\n`;
  const files = { ...WRANGLER, "package.json": manifest({ scripts: { dev: "sluice dev" } }) };
  const named = 'wrangler: { configPath: "./wrangler.jsonc" }';
  const { after, packages } = changed({ ...files, "vitest.config.ts": text(`{ ${named} }`) });
  expect(after["vitest.config.ts"]).toContain('import { sluice } from "@sluice/testing/vitest";');
  expect(after["vitest.config.ts"]).toContain(`cloudflareTest(sluice({ ${named} }))`);
  expect(packages).toEqual(["@sluice/testing", "sluice"]);
  for (const [options, why] of [
    ["", "it names no wrangler.configPath"],
    [`{ main: "./index.ts", ${named} }`, 'it names a "main"'],
  ] as const) {
    const { files: none, notes } = changed({ ...files, "vitest.config.ts": text(options) });
    expect(none).toEqual([]);
    expect(notes.join()).toContain(`vitest.config.ts cannot be changed here: ${why}. Change it by hand:`);
  }
});

it("init puts sluice() around every call, under another name where that one is taken", () => {
  const text = `import { cloudflare } from "@cloudflare/vite-plugin";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
const sluice = process.env.VITEST !== undefined;
export default {
  plugins: [sluice || cloudflare()],
  test: {
    projects: [
      { plugins: [cloudflareTest({ wrangler: { configPath: "./a.toml" } })] },
      { plugins: [cloudflareTest(() => ({ wrangler: { configPath: "./b.toml" } }))] },
    ],
  },
};
`;
  const { after, packages, notes } = changed({
    ...WRANGLER,
    "package.json": manifest({}),
    "vite.config.ts": text,
  });
  expect(after["vite.config.ts"]).toBe(
    text
      .replace('vite-plugin";\n', '$&import { sluice as sluiceVite } from "@sluice/vite";\n')
      .replace('pool-workers";\n', '$&import { sluice as sluiceTest } from "@sluice/testing/vitest";\n')
      .replace("cloudflare()", "cloudflare(sluiceVite())")
      .replaceAll(/cloudflareTest\((\S* => \(.*\)|{.*})\)\]/g, "cloudflareTest(sluiceTest($1))]"),
  );
  expect(packages).toEqual(["@sluice/testing", "@sluice/vite"]);
  expect(notes).toEqual([]);
});

it.each([
  ["vite.config.js", "@cloudflare/vite-plugin", "cloudflare", "@sluice/vite"],
  ["vitest.config.js", "@cloudflare/vitest-plugin", "cloudflareTest", "@sluice/testing/vitest"],
])("init wraps the call in %s where sluice() is imported and not called", (name, module, call, ours) => {
  const text = (options: string) =>
    `import { sluice as ourOwn } from "${ours}";\nimport { ${call} } from "${module}";\n` +
    `export default { plugins: [${call}(${options})] };\n`;
  const options = '{ wrangler: { configPath: "./wrangler.jsonc" } }';
  const files = { ...WRANGLER, "package.json": manifest({ scripts: { dev: "sluice dev" } }) };
  const { after } = changed({ ...files, [name]: text(options) });
  expect(after).toEqual({ [name]: text(`ourOwn(${options})`) });
  expect(changed({ ...files, ...after }).files).toEqual([]);
});

it.each([
  ["in its configuration", "vitest.config.ts", "defineWorkersConfig"],
  ["in a workspace", "vitest.workspace.ts", "defineWorkersProject"],
])("init names the way from an older configuration for tests in Workers, %s", (_, name, define) => {
  const text = `import { ${define} } from "@cloudflare/vitest-pool-workers/config";\nexport default ${define}({});\n`;
  const { after, packages, notes } = changed({
    ...WRANGLER,
    [name]: text,
    "package.json": manifest({ devDependencies: { "@cloudflare/vitest-pool-workers": "^0.8.0" } }),
  });
  expect(Object.keys(after)).toEqual(["package.json"]);
  expect(packages).toEqual(["sluice"]);
  expect(notes).toEqual([
    expect.stringMatching(
      `^${name} cannot be changed here: .*Move to cloudflareTest\\(\\) .*\n  import { sluice }`,
    ),
  ]);
});

it.each([
  [
    "@cloudflare/vite-plugin",
    "cloudflare",
    { "vite.config.ts": 'import * as x from "@cloudflare/vite-plugin";' },
    [],
  ],
  [
    "@cloudflare/vitest-plugin",
    "cloudflareTest",
    { "vitest.config.ts": 'export default { test: { projects: ["a"] } };' },
    ["sluice"],
  ],
])("init says that it does not know how %s is used", (name, call, files, expected) => {
  const devDependencies = { [name]: "^1.0.0" };
  const manifestText = manifest({ devDependencies, scripts: { dev: "sluice dev" } });
  const { packages, notes, files: none } = changed({ ...WRANGLER, ...files, "package.json": manifestText });
  expect(none).toEqual([]);
  expect(packages).toEqual(expected);
  expect(notes.join()).toContain(
    `${name} is installed, and no configuration of this folder imports ${call} from it.`,
  );
});

it.each([
  [
    "that does not parse",
    "import { cloudflare } from '@cloudflare/vite-plugin'; export default {",
    "it does not parse",
  ],
  [
    "that does not call it",
    "import { cloudflare } from '@cloudflare/vite-plugin'; export { cloudflare };",
    "cloudflare() is not called there",
  ],
  [
    "that has all names already",
    "import { cloudflare } from '@cloudflare/vite-plugin'; " +
      "const [sluice, sluiceVite] = x; export default cloudflare();",
    'something else is called "sluice" there',
  ],
])("init prints the line to add for a configuration of Vite %s", (_, text, why) => {
  const { files, notes } = changed({ ...WRANGLER, "package.json": manifest({}), "vite.config.js": text });
  expect(files).toEqual([]);
  expect(notes).toEqual([
    `vite.config.js cannot be changed here: ${why}. Change it by hand:\n` +
      '  import { sluice } from "@sluice/vite";   plugins: [cloudflare(sluice({ ... }))]',
  ]);
});

it.each([
  ["none", {}, { dev: "sluice dev" }],
  [
    "Wrangler",
    { dev: "wrangler dev", start: "wrangler dev --port 3000" },
    { dev: "sluice dev", start: "sluice dev --port 3000" },
  ],
  ["Sluice", { dev: "sluice dev apps/shop" }, { dev: "sluice dev apps/shop" }],
  [
    "Wrangler on a cloudflare.config.ts",
    { dev: "wrangler dev --x-new-config --port 3000", start: "wrangler dev --experimental-new-config" },
    { dev: "sluice dev --port 3000", start: "sluice dev" },
  ],
  ["cf", { dev: "cf dev --mode staging" }, { dev: "sluice dev --mode staging" }],
  ["cf with an option of its own", { dev: "cf dev --local" }, { dev: "cf dev --local" }],
  ["Wrangler with an option of its own", { dev: "wrangler dev --remote" }, { dev: "wrangler dev --remote" }],
  ["another tool", { dev: "next dev" }, { dev: "next dev" }],
])("init changes scripts whose dev runs %s as expected", (_, scripts, expected) => {
  const { after, notes } = changed({ ...WRANGLER, "package.json": manifest({ scripts }, 4) });
  const text = after["package.json"] ?? manifest({ scripts }, 4);
  expect(text).toBe(manifest({ scripts: expected }, 4));
  expect(notes).toHaveLength(JSON.stringify(scripts).match(/next|remote|local/) ? 1 : 0);
});

it.each([
  ["package-lock.json", "npm install --save-dev"],
  ["pnpm-lock.yaml", "pnpm add --save-dev"],
  ["yarn.lock", "yarn add --dev"],
  ["bun.lock", "bun add --dev"],
])("init uses the package manager of %s, in this folder or above it", (lock, command) => {
  const folder = projectFolder({
    [lock]: "",
    "apps/shop/package.json": manifest({ packageManager: "yarn@4.0.0" }),
  });
  const { manager } = changesFor(join(folder, "apps/shop"));
  expect([manager.name, ...manager.add].join(" ")).toBe(command);
});

it("init uses the declared package manager where there is no lock file", () => {
  expect(changed({ "package.json": manifest({ packageManager: "pnpm@12.0.0" }) }).manager.name).toBe("pnpm");
  expect(changed({ "package.json": manifest({}) }).manager.name).toBe("npm");
});

async function init(folder: string, args: readonly string[], answer: string | null = null) {
  const { printer, said } = collected();
  const code = await run(["init", ...args], printer, {
    cwd: folder,
    env: process.env,
    input: Readable.from([]),
    showsProgress: false,
    isInteractive: answer !== null,
    ask: async () => answer ?? "",
  });
  return { code, printed: said.out.trimEnd(), warned: said.err.trimEnd() };
}

it("init shows the difference, asks, and finds nothing to do in a second run", async () => {
  const installed = manifest({ scripts: { dev: "wrangler dev" }, devDependencies: { sluice: "0.1.0" } });
  const folder = projectFolder({ ...WRANGLER, "package.json": installed });
  const read = () => readFileSync(join(folder, "package.json"), "utf8");
  const dry = await init(folder, ["--dry-run"]);
  expect(dry).toMatchObject({ code: 0, warned: "" });
  expect(dry.printed).toMatch(/^--- package.json\n\+\+\+ package.json\n@@ /);
  expect(dry.printed).toContain('-    "dev": "wrangler dev"\n+    "dev": "sluice dev"');
  expect(await init(folder, [])).toMatchObject({ code: 5, warned: expect.stringContaining("--yes") });
  expect(await init(folder, [], "n")).toMatchObject({ code: 5, warned: "Nothing was changed." });
  expect(read()).toBe(installed);
  const done = await init(folder, [], "y");
  expect(done.code).toBe(0);
  expect(done.printed.endsWith('Done. Start it by "npm run dev". /__sluice/ there is the dashboard.')).toBe(
    true,
  );
  expect(read()).toBe(installed.replace("wrangler dev", "sluice dev"));
  expect(await init(folder, [])).toEqual({ code: 0, printed: "There is nothing to change.", warned: "" });
});

it.each([
  [
    "a project with a script",
    { "package.json": manifest({ scripts: { dev: "wrangler dev" } }) },
    "npm run dev",
  ],
  ["a project that gets the script", { "package.json": manifest({}) }, "npm run dev"],
  [
    "Vite with a script",
    { "package.json": manifest({ scripts: { dev: "vite" } }), "vite.config.ts": VITE },
    "npm run dev",
  ],
  [
    "Vite without one",
    { "package.json": manifest({ scripts: { start: "vite" } }), "vite.config.ts": VITE },
    "npx vite",
  ],
  [
    "a folder below the manifest",
    { "../package.json": manifest({ scripts: { dev: "turbo dev" } }) },
    "npx sluice dev",
  ],
] as const)("init names the command that starts %s", (_, files, command) => {
  const folder = projectFolder({
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [join("apps/shop", name), text])),
    "apps/shop/wrangler.jsonc": "{}",
  });
  expect(changesFor(join(folder, "apps/shop")).start).toBe(command);
});

it.each([
  ["Vite", { "vite.config.ts": VITE }, "unless the options of cloudflare() have one."],
  ["others", {}, 'or name those folders in the script "dev": sluice dev DIR'],
])(
  "init says what there is to do without a configuration of a Worker, in a project of %s",
  (_, files, end) => {
    const { notes } = changed({ ...files, "package.json": manifest({ scripts: { dev: "sluice dev" } }) });
    expect(notes).toEqual([expect.stringContaining("There is no configuration of a Worker in this folder")]);
    expect(notes[0]?.endsWith(end)).toBe(true);
  },
);

it("init says what it would install, and where a project or a package is missing", async () => {
  const folder = projectFolder({ ...WRANGLER, "package.json": manifest({}) });
  expect(await init(folder, ["--dry-run"])).toMatchObject({
    code: 2,
    printed: "",
    warned: expect.stringMatching(/^sluice is in no registry.*sluice init --from DIR$/),
  });
  mkdirSync(join(folder, "packed"));
  writeFileSync(join(folder, "packed/sluice-0.1.0.tgz"), "");
  expect((await init(folder, ["--dry-run", "--from", "packed"])).printed).toContain(
    `$ npm install --save-dev ${join(folder, "packed/sluice-0.1.0.tgz")}`,
  );
  expect(await init(folder, ["--from", "packages"])).toMatchObject({
    code: 2,
    warned: `There is no ${join(folder, "packages/sluice-0.1.0.tgz")}.`,
  });
  writeFileSync(join(folder, "package.json"), "[]");
  expect(await init(folder, [])).toMatchObject({
    code: 1,
    warned: expect.stringContaining("There is no package.json"),
  });
});

it("init looks for a package.json around a folder that has none, and leaves its scripts alone", () => {
  const files = {
    "package.json": manifest({ devDependencies: { sluice: "0.1.0" } }),
    "apps/mails/wrangler.jsonc": "{}",
  };
  const folder = projectFolder(files);
  const { root, files: changes, packages, notes } = changesFor(join(folder, "apps/mails"));
  expect({ root, changes, packages }).toEqual({ root: folder, changes: [], packages: [] });
  expect(notes.join()).toContain(`The nearest package.json is that of ${folder}`);
});

it("runs a package manager as a program, and on Windows by a shell that reads no argument otherwise", () => {
  const command = ["npm", "install", "--save-dev", "C:\\A B\\sluice-0.1.0.tgz", "sluice@^0.1.0"];
  const [program, ...args] = command;
  expect(runnable(command, "darwin")).toEqual({ program, args, shell: false });
  expect(runnable(command, "win32")).toEqual({
    program: 'npm "install" "--save-dev" "C:\\A B\\sluice-0.1.0.tgz" "sluice@^0.1.0"',
    args: [],
    shell: true,
  });
});
