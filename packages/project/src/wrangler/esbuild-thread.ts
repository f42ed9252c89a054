/** Variable by which esbuild decides, as it is loaded, whether it has a thread for calls that block. */
const THREADS = "ESBUILD_WORKER_THREADS";

/**
 * Loads what loads esbuild, which words Wrangler's warnings and errors, without its thread. That takes 40 ms and 35 MB
 * from the first of them on. Started in a folder that is being deleted it dies, and Wrangler waits for it for ever, with
 * all keys unread. Instead each message takes 3 ms in a process of its own, and fails in such a folder.
 */
export function withoutEsbuildThread(load: () => void): void {
  const { [THREADS]: before } = process.env;
  process.env[THREADS] = "0";
  try {
    load();
  } finally {
    // What Wrangler runs for the user, such as a build, goes by its own.
    if (before === undefined) delete process.env[THREADS];
    else process.env[THREADS] = before;
  }
}
