import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Case, Measured, RunningSystem } from "./system.ts";

const START_MS_MAX = 60_000;

/**
 * Starts a command that serves the bench Worker on the port it is given, and measures through the Worker's own `fetch`.
 *
 * @param command Gets the port and a folder for its state.
 */
export async function startDevServer(
  command: (port: number, persistDir: string) => readonly string[],
): Promise<RunningSystem> {
  const port = await freePort();
  const persistDir = await mkdtemp(path.join(tmpdir(), "sluice-bench-"));
  const [executable = "", ...args] = command(port, persistDir);
  const child = spawn(executable, args, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: {
      ...process.env,
      CI: "1",
      WRANGLER_SEND_METRICS: "false",
      X_LOCAL_OBSERVABILITY: "false",
      WRANGLER_REGISTRY_PATH: path.join(persistDir, "registry"),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    });
  }
  const stop = async () => {
    await kill(child);
    await rm(persistDir, { recursive: true, force: true });
  };
  try {
    await untilReady(`http://127.0.0.1:${port}/`, child);
  } catch (error) {
    await stop();
    throw new Error(`${error instanceof Error ? error.message : error}\n${output}`);
  }
  return { run: (testCase) => measure(port, testCase), stop };
}

async function measure(port: number, { way, messages }: Case): Promise<Measured> {
  const response = await fetch(`http://127.0.0.1:${port}/?way=${way}&n=${messages}`);
  if (!response.ok) throw new Error(`${way}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Measured;
}

/** Polls until the Worker answers at all: 400 for a request that names no way. */
async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_MS_MAX;
  while (Date.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`it ended with exit code ${child.exitCode}`);
    try {
      const response = await fetch(url);
      if (response.status === 400) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`it did not answer within ${START_MS_MAX / 1000} s`);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  // The whole group: wrangler's workerd must not outlive it.
  process.kill(-child.pid, "SIGTERM");
  await ended;
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("no port")),
      );
    });
  });
}
