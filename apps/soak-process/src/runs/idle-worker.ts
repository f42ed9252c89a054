import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A Worker that has nothing to do with the queues: with one the broker runs on workerd. */
export async function makeWorker(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-soak-worker-"));
  const config = { name: "idle", main: "index.js", compatibility_date: "2026-11-01" };
  await writeFile(path.join(folder, "wrangler.json"), JSON.stringify(config));
  await writeFile(path.join(folder, "index.js"), 'export default { fetch: () => new Response("idle") };\n');
  return folder;
}
