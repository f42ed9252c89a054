import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Writes a Worker that uses no queue: a broker started with a Worker runs on workerd. Resolves to its folder. */
export async function makeWorker(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-soak-worker-"));
  const config = { name: "idle", main: "index.js", compatibility_date: "2026-11-01" };
  await writeFile(path.join(folder, "wrangler.json"), JSON.stringify(config));
  await writeFile(path.join(folder, "index.js"), 'export default { fetch: () => new Response("idle") };\n');
  return folder;
}
