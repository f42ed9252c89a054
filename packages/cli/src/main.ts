#!/usr/bin/env node
import type { Writable } from "node:stream";
import { nodeRefusal } from "@sluice/project/node-version/refusal";

const refusal = nodeRefusal(process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
// Loaded only after the check: an older Node.js fails on imports of names that it lacks.
const { enableCompileCache } = await import("node:module");
const { EXIT_FAILED } = await import("@sluice/project/errors");
const { surviveLateErrors } = await import("@sluice/project/wrangler/late-errors");
// Half of the second that Wrangler takes to load is its compilation.
enableCompileCache();
surviveLateErrors();
const { run } = await import("./command-line.ts");
const { terminal } = await import("@sluice/local/report/printer");
/** First error that lost output, such as a full disk. A reader that has closed the pipe is none. */
let lost = null as Error | null;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") lost ??= error;
});
const code = await run(process.argv.slice(2), terminal);
await Promise.all([process.stdout, process.stderr].map(written));
if (lost !== null) process.stderr.write(`Standard output cannot be written: ${lost.message}\n`);
// A broker that ran in this process may have left timers, which must not keep it alive.
process.exit(lost !== null && code === 0 ? EXIT_FAILED : code);

/** Waits until a stream is flushed, or its reader has closed it: an exit discards what is still buffered for a pipe. */
function written(stream: Writable): Promise<void> {
  stream.on("error", () => {});
  return new Promise((resolve) => stream.write("", () => resolve()));
}
