#!/usr/bin/env node
import type { Writable } from "node:stream";
import { nodeRefusal } from "@sluice/project/node-version/refusal";

const refusal = nodeRefusal(process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
// Loaded after the check only: an older Node.js fails on imports that it does not know.
const { enableCompileCache } = await import("node:module");
const { EXIT_FAILED } = await import("@sluice/project/errors");
const { surviveLateErrors } = await import("@sluice/project/wrangler/late-errors");
// Half of the second that Wrangler takes to load is its compilation.
enableCompileCache();
surviveLateErrors();
const { run } = await import("./command-line.ts");
const { terminal } = await import("@sluice/local/report/printer");
/** Why something that was printed is lost, such as a full disk. A reader that is gone wants nothing more. */
let lost = null as Error | null;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") lost ??= error;
});
const code = await run(process.argv.slice(2), terminal);
await Promise.all([process.stdout, process.stderr].map(written));
if (lost !== null) process.stderr.write(`Standard output cannot be written: ${lost.message}\n`);
// A broker that ran in this process may have left timers, which must not keep it alive.
process.exit(lost !== null && code === 0 ? EXIT_FAILED : code);

/** Waits until all that was written to a stream is out, or its reader is gone: an exit cuts what a pipe has no room for. */
function written(stream: Writable): Promise<void> {
  stream.on("error", () => {});
  return new Promise((resolve) => stream.write("", () => resolve()));
}
