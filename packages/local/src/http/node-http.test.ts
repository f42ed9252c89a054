import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Prints which modules of Node.js's own a process has loaded after a module. */
const loadedAfter = (module: string) =>
  `await import(${JSON.stringify(import.meta.resolve(module))}); console.log(process.moduleLoadList.join("\\n"));`;

it.each(["./node-http.ts", "../dev/start.ts", "../dev/dev.ts"])(
  "%s loads node:http without the fetch of Node.js",
  async (module) => {
    const args = ["--input-type=module", "-e", loadedAfter(module)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 });
    expect(stdout).toMatch(/^NativeModule url$/m);
    expect(stdout).not.toMatch(/undici/);
  },
);
