import path from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "@sluice/harness/child";
import { environmentIn } from "@sluice/harness/environment";
import getPort from "get-port";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { Measured } from "../workload/run.ts";
import type { RunningSystem } from "./system.ts";

/** Folder of the Worker under test. */
export const WORKER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../worker");

interface DevServerPlace {
  readonly port: number;
  readonly folder: string;
}

/** Starts a Node.js script that serves the bench Worker. A run is a request to the Worker, which measures itself. */
export async function startDevServer(
  name: string,
  commandLine: (place: DevServerPlace) => readonly string[],
): Promise<RunningSystem> {
  const folder = await temporaryFolder(name);
  const port = await getPort();
  const child = startChild(process.execPath, commandLine({ port, folder }), {
    cwd: folder,
    env: environmentIn(folder),
  });
  const stop = async () => {
    await child.stop();
    await removeFolder(folder);
  };
  const url = `http://127.0.0.1:${port}/`;
  try {
    // The Worker answers 400 to a request that names no way.
    await child.ready(async () => (await fetch(url)).status === 400);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pids: [child.pid],
    async run(way, messages) {
      const response = await fetch(`${url}?way=${way}&messages=${messages}`);
      if (!response.ok) throw new Error(`${way}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Measured;
    },
    stop,
  };
}
