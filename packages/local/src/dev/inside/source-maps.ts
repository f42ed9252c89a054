import fs from "node:fs";
import module from "node:module";
import { MAP_BYTES_MAX } from "../../stacks/maps-on-disk.ts";

/** Library by which Wrangler and Miniflare map stack traces. Each loads a copy of its own, by its absolute path. */
const SUPPORT = /[\\/]@cspotcode[\\/]source-map-support[\\/]/;

interface Support {
  /** Sets `Error.prepareStackTrace`. */
  install(options: unknown): void;
}

type Load = (this: unknown, request: string, ...others: unknown[]) => unknown;

/**
 * Keeps Wrangler from reading anything but regular files while it maps a stack trace. A handler may put any path into
 * a stack trace, such as `/dev/zero`, which a read never finishes.
 */
export function mapFilesAlone(): void {
  const loader = module as unknown as { _load: Load };
  const load = loader._load;
  loader._load = function (request, ...others) {
    const loaded = Reflect.apply(load, this, [request, ...others]);
    if (SUPPORT.test(request)) guard(loaded as Support);
    return loaded;
  };
}

function guard(support: Support): void {
  const { install } = support;
  support.install = (options) => {
    const before = Error.prepareStackTrace;
    install(options);
    const prepare = Error.prepareStackTrace;
    if (prepare === before || prepare === undefined) return;
    Error.prepareStackTrace = (error, callSites) => withMappableFilesOnly(() => prepare(error, callSites));
  };
}

/** Calls a synchronous function with a `readFileSync` that finds only files that can be, or have, a source map. */
function withMappableFilesOnly<T>(run: () => T): T {
  const { readFileSync } = fs;
  fs.readFileSync = new Proxy(readFileSync, {
    apply(read, its, args: Parameters<typeof readFileSync>) {
      if (!isMappable(args[0])) throw Object.assign(new Error("not there"), NOT_THERE);
      return Reflect.apply(read, its, args);
    },
  });
  try {
    return run();
  } finally {
    fs.readFileSync = readFileSync;
  }
}

const NOT_THERE = { code: "ENOENT" };

/** Whether a file can have a map or be one. Files of the kernel (`/proc`) report size 0 and may be endless. */
function isMappable(path: fs.PathOrFileDescriptor): boolean {
  if (typeof path === "number") return false;
  const stats = fs.statSync(path);
  const { size } = stats;
  return stats.isFile() && size > 0 && size <= MAP_BYTES_MAX;
}
