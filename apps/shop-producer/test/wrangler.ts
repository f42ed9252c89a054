import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import getPort from "get-port";

const APPS = fileURLToPath(new URL("../..", import.meta.url));
const WRANGLER = join(createRequire(import.meta.url).resolve("wrangler/package.json"), "../bin/wrangler.js");
const READY_WITHIN_MS = 60_000;

/** A running `wrangler dev`. */
export interface WranglerDev {
  readonly origin: string;
  /** Ends all of its processes and deletes its state. */
  stop(): Promise<void>;
}

/**
 * Starts `wrangler dev` for Workers of `apps/`; the first one answers at `origin`. It has its own port, state and
 * registry, so that it meets no other Wrangler on the machine.
 *
 * @throws Error with all output if it ends, or is not ready within a minute.
 */
export async function startWranglerDev(workers: readonly string[]): Promise<WranglerDev> {
  const folder = await mkdtemp(join(tmpdir(), "shop-"));
  const port = await getPort();
  const configs = workers.flatMap((worker) => ["-c", join(APPS, worker, "wrangler.toml")]);
  const wrangler = spawn(
    process.execPath,
    [WRANGLER, "dev", ...configs, `--port=${port}`, "--inspector-port=0", `--persist-to=${folder}`],
    {
      cwd: folder,
      detached: true, // A process group of its own, so that workerd ends with it.
      env: {
        ...process.env,
        CI: "1",
        WRANGLER_LOG_PATH: folder,
        WRANGLER_REGISTRY_PATH: join(folder, "registry"),
        WRANGLER_SEND_METRICS: "false",
        X_LOCAL_OBSERVABILITY: "false",
      },
    },
  );
  const ended = once(wrangler, "exit");
  const stop = async () => {
    if (wrangler.pid !== undefined) {
      try {
        // Its workerd may be there when it has ended itself.
        process.kill(-wrangler.pid, "SIGKILL");
      } catch {
        // The group is gone.
      }
      await ended;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("Ready on")) resolve();
    };
    wrangler.stdout.on("data", listen);
    wrangler.stderr.on("data", listen);
    const fail = (why: string) => reject(new Error(`wrangler dev ${why}:\n${output}`));
    const deadline = setTimeout(() => fail("is not ready in time"), READY_WITHIN_MS);
    ended.then(
      () => fail("ended"),
      (error: unknown) => fail(`cannot start: ${error}`),
    );
    ended.finally(() => clearTimeout(deadline)).catch(() => undefined);
  });
  try {
    await ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin: `http://127.0.0.1:${port}`, stop };
}
