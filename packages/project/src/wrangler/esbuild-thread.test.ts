import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { withoutEsbuildThread } from "./esbuild-thread.ts";

/** Far longer than it takes to fail. */
const HANGS_MS = 20_000;

/** Has esbuild word an error for the first time, in a folder that may be deleted. */
const SCRIPT = `
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutEsbuildThread } from ${JSON.stringify(import.meta.resolve("./esbuild-thread.ts"))};

const folder = mkdtempSync(join(tmpdir(), "sluice-folder-"));
process.chdir(folder);
const require = createRequire(${JSON.stringify(import.meta.url)});
withoutEsbuildThread(() => require("esbuild"));
const words = () => require("esbuild").formatMessagesSync([{ text: "It is broken." }], { kind: "error" })[0];
console.log(words());
rmSync(folder, { recursive: true });
try {
  words();
} catch (error) {
  console.log(error.code);
}
`;

it.skipIf(process.platform === "win32")(
  "esbuild words an error, and fails rather than hang in a folder that is gone",
  async () => {
    const args = ["--input-type=module", "-e", SCRIPT];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: HANGS_MS });
    expect(stdout).toMatch(/It is broken\..*ENOENT/s);
  },
);

it.each([undefined, "1"])("the variable is afterwards what it was: %s", (before) => {
  const { ESBUILD_WORKER_THREADS: own } = process.env;
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env.ESBUILD_WORKER_THREADS;
    else process.env.ESBUILD_WORKER_THREADS = value;
  };
  set(before);
  try {
    let during: string | undefined;
    withoutEsbuildThread(() => {
      during = process.env.ESBUILD_WORKER_THREADS;
    });
    expect([during, process.env.ESBUILD_WORKER_THREADS]).toEqual(["0", before]);
  } finally {
    set(own);
  }
});
