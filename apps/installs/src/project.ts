import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Other packages that are installed with ours, in the tested versions. */
export const BESIDE = ["wrangler@4.164.0", "@cloudflare/vite-plugin@1.64.0", "vite@8.3.8", "vitest@5.1.1"];

const FILES = {
  "wrangler.json": JSON.stringify({
    name: "tried",
    main: "index.js",
    compatibility_date: "2026-01-01",
    queues: {
      producers: [{ binding: "JOBS", queue: "jobs" }],
      consumers: [{ queue: "jobs", max_batch_timeout: 0, dead_letter_queue: "dead" }, { queue: "dead" }],
    },
  }),
  "index.js": `export default {
  async fetch(request, env) {
    await env.JOBS.send(new URL(request.url).search);
    return new Response("sent");
  },
  async queue({ messages }) {
    for (const { body } of messages) console.log("got", body);
  },
};
`,
  "imports.js": `import { createQueueRuntime, explore } from "@sluice/testing";
import { sluice } from "@sluice/vite";
const functions = [createQueueRuntime, explore, sluice];
console.log(functions.map((one) => typeof one).join());
`,
};

/**
 * Writes a project with a Worker that sends to itself.
 *
 * @param more further files.
 * @param without packages that are replaced by an empty one.
 */
export function writeProject(
  folder: string,
  more: Readonly<Record<string, string>>,
  without: readonly string[],
): void {
  mkdirSync(join(folder, "empty"), { recursive: true });
  const resolutions = Object.fromEntries(without.map((name) => [name, "file:./empty"]));
  const files = {
    ...FILES,
    "package.json": JSON.stringify({ name: "tried", private: true, type: "module", resolutions }),
    "empty/package.json": JSON.stringify({ name: "empty", version: "0.0.0" }),
    ...more,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
