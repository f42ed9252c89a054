#!/usr/bin/env node
import { nodeRefusal } from "@sluice/project/node-version/refusal";

const refusal = nodeRefusal(process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
// Loaded after the check only: an older Node.js fails on imports that it does not know.
const { enableCompileCache } = await import("node:module");
// Half of the second that Wrangler takes to load is its compilation.
enableCompileCache();
const { run } = await import("./command-line.ts");
const { terminal } = await import("@sluice/local/report/printer");
const { written } = await import("./written.ts");
const code = await run(process.argv.slice(2), terminal);
await Promise.all([process.stdout, process.stderr].map(written));
// A broker that ran in this process may have left timers, which must not keep it alive.
process.exit(code);
