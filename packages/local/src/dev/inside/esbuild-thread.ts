import { parse } from "node:path";
import threads from "node:worker_threads";
import { nearestExisting } from "@sluice/project/folders";

/** Longest that is waited for a thread to start, in ms. It takes some 20. */
const STARTING_MS_MAX = 10_000;

/**
 * Keeps the thread in which esbuild words Wrangler's warnings and errors from dying in a folder that is being deleted.
 * It asks for the folder of its process as it starts, which is at the first of them, and Wrangler would wait for it for
 * ever, with all keys unread. So it starts in one that is always there, while nothing else runs in this process.
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

/** Code of a thread that says when it has started, takes its folder for `root`, and goes on as `file`. */
function codeOf(file: string, root: string): string {
  return `
process.cwd = () => ${JSON.stringify(root)};
const { started } = require("node:worker_threads").workerData;
Atomics.store(started, 0, 1);
Atomics.notify(started, 0);
require(${JSON.stringify(file)});
`;
}
