import fs, { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { mapFilesAlone } from "./source-maps.ts";

const loader = module as unknown as { _load: unknown };
const { _load: load } = loader;
const { prepareStackTrace } = Error;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "sluice-maps-"));
});
afterEach(() => {
  loader._load = load;
  Error.prepareStackTrace = prepareStackTrace;
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Has Wrangler's library map the stack of an error in a file. */
function stackIn(file: string): string {
  const required = createRequire(createRequire(import.meta.url).resolve("wrangler"));
  const path = required.resolve("@cspotcode/source-map-support");
  delete required.cache[path];
  const support = required(path);
  support.install({ environment: "node", handleUncaughtExceptions: false });
  try {
    return runInThisContext("new Error('boom').stack", { filename: file });
  } finally {
    support.uninstall();
  }
}

it("a stack trace in a bundle is mapped by the map beside it", () => {
  mapFilesAlone();
  const bundle = join(folder, "index.js");
  writeFileSync(bundle, "//# sourceMappingURL=index.js.map");
  writeFileSync(`${bundle}.map`, '{"version":3,"sources":["orders.ts"],"names":[],"mappings":"AAAA"}');
  const { readFileSync } = fs;
  expect(stackIn(bundle)).toContain(`${join(folder, "orders.ts")}:1:1`);
  expect(fs.readFileSync).toBe(readFileSync);
});

it.skipIf(process.platform === "win32").each(["/dev/null", "/proc/version"])(
  "nothing is read of %s, which is no file of a bundle",
  (device) => {
    mapFilesAlone();
    const read = vi.spyOn(fs, "readFileSync");
    expect(stackIn(device)).toContain(`${device}:1:1`);
    expect(read.mock.calls.filter(([path]) => path === device)).toEqual([]);
  },
);
