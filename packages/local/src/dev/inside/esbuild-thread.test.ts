import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Far longer than it takes. */
const HANGS_MS = 20_000;

/** Has esbuild word two errors in a folder, and prints the folder of the process after each. */
const script = (before: string) => `
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepEsbuildThread } from ${JSON.stringify(import.meta.resolve("./esbuild-thread.ts"))};

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-folder-")));
process.chdir(folder);
const esbuild = createRequire(${JSON.stringify(import.meta.url)})("esbuild");
keepEsbuildThread();
${before}
for (const text of ["First", "Second"]) {
  console.log(esbuild.formatMessagesSync([{ text }], { kind: "error" })[0]);
  console.log(process.cwd() === folder);
}
rmSync(folder, { recursive: true, force: true });
`;

async function run(before: string): Promise<string> {
  const args = ["--input-type=module", "-e", script(before)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANGS_MS });
  return stdout;
}

it("esbuild words errors, and the folder of the process stays what it is", async () => {
  expect(await run("")).toMatch(/First.*true.*Second.*true/s);
});

it.skipIf(process.platform === "win32")("esbuild words errors in a folder that is gone", async () => {
  // Wrangler still knows it, by `keepWorkingDirectory`.
  const gone = "process.cwd = () => folder; rmSync(folder, { recursive: true });";
  expect(await run(gone)).toMatch(/First.*Second/s);
});
