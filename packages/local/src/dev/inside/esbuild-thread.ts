import { parse } from "node:path";
import threads from "node:worker_threads";
import { nearestExisting } from "@sluice/project/folders";

/** Longest that a thread may take to start, in ms. Usually it takes some 20 ms. */
const STARTING_MS_MAX = 10_000;

/**
 * Keeps the thread in which esbuild formats Wrangler's warnings and errors from dying when the project's folder is
 * deleted. The thread starts at the first warning or error, and its start fails in a working directory that is gone:
 * Wrangler would wait for it for ever and read no keys. So the thread starts in the root folder, while this process
 * waits and does nothing else.
 */
export function keepEsbuildThread(): void {
  threads.Worker = new Proxy(threads.Worker, {
    construct(Worker, [file, options]) {
      if (options?.workerData?.esbuildVersion === undefined) return new Worker(file, options);
      const started = new Int32Array(new SharedArrayBuffer(4));
      const { root } = parse(file);
      const folder = process.cwd();
      process.chdir(root);
      try {
        const workerData = { ...options.workerData, started };
        const worker = new Worker(codeOf(file, root), { ...options, workerData, eval: true });
        Atomics.wait(started, 0, 0, STARTING_MS_MAX);
        return worker;
      } finally {
        process.chdir(nearestExisting(folder));
      }
    },
  });
}

/** Returns the code of a thread that takes `root` for its folder, reports that it has started, and runs `file`. */
function codeOf(file: string, root: string): string {
  return `
process.cwd = () => ${JSON.stringify(root)};
const { started } = require("node:worker_threads").workerData;
Atomics.store(started, 0, 1);
Atomics.notify(started, 0);
require(${JSON.stringify(file)});
`;
}
