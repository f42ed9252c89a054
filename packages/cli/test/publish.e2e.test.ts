import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { refusalOf } from "../src/node-version/refusal.ts";
import { packed } from "./pack.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Largest archive of each package that is published, in bytes. */
const ARCHIVE_BYTES_MAX: Readonly<Record<string, number>> = {
  sluice: 2_300_000,
  "@sluice/testing": 700_000,
  "@sluice/vite": 700_000,
};

/** Without the Node.js of this workspace. */
const MACHINE = { PATH: "/usr/local/bin:/usr/bin:/bin" };
/** What runs in Workers. */
const FOR_WORKERS = "./worker";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** Version of the machine's own Node.js, `null` where it is new enough or there is none. */
function oldNode(): string | null {
  const { stdout } = spawnSync("node", ["--version"], { env: MACHINE, encoding: "utf8" });
  const version = (stdout ?? "").trim().slice(1);
  return version === "" || refusalOf(version) === null ? null : version;
}

const packages = readdirSync(join(ROOT, "packages"))
  .map((name) => join(ROOT, "packages", name))
  .map((folder) => ({ folder, ...manifestOf(folder) }))
  .filter((manifest) => manifest.private !== true);

describe.each(packages)("the archive of $name", ({ name, folder }) => {
  const output = mkdtempSync(join(tmpdir(), "sluice-publish-"));
  afterAll(() => rmSync(output, { recursive: true, force: true }));
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
  const tool = (tool: string, ...args: string[]) =>
    run(process.execPath, [join(ROOT, "node_modules", tool), ...args]);

  it("is small, has the licence, and its exports lead to what is in it, with types", () => {
    const archive = packed(folder, output);
    const { size } = statSync(archive);
    console.log(`${name}: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(ARCHIVE_BYTES_MAX[name] ?? 0);

    run("tar", ["-xzf", archive, "-C", output]);
    const unpacked = join(output, "package");
    expect(readFileSync(join(unpacked, "LICENSE"), "utf8")).toContain("Apache License");
    expect(readdirSync(unpacked)).toContain("README.md");
    expect(JSON.stringify(manifestOf(unpacked))).not.toMatch(/workspace:|catalog:|\.\/src\//);

    expect(tool("publint/src/cli.js", archive, "--strict")).toContain("All good!");
    if (manifestOf(unpacked).exports?.["."] === undefined) return;
    // It fails where a resolution of the profile has a problem.
    const types = tool("@arethetypeswrong/cli/dist/index.js", archive, "--profile", "esm-only", "--no-color");
    expect(types).toContain("node16 (from ESM)");
  });

  const old = oldNode();
  it.skipIf(old === null)("says to a Node.js that is too old which one it needs", () => {
    const unpacked = join(output, "package");
    symlinkSync(join(folder, "node_modules"), join(unpacked, "node_modules"));
    const files = Object.entries(manifestOf(unpacked).exports ?? {}).flatMap(([name, target]) =>
      name === FOR_WORKERS || typeof target === "string" ? [] : [(target as { default: string }).default],
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const program = `import(${JSON.stringify(join(unpacked, file))}).catch((error) => console.log(String(error)))`;
      const { stdout } = spawnSync("node", ["-e", program], { env: MACHINE, encoding: "utf8" });
      expect(stdout, file).toBe(`Error: ${refusalOf(old ?? "")}\n`);
    }
  });
});
