#!/usr/bin/env node
import { refusalOf } from "@sluice/project/node-version/refusal";

const refusal = refusalOf(process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
// The rest is loaded only then: an older Node.js runs no module that imports what it does not have.
const { enableCompileCache } = await import("node:module");
// Half of the second that Wrangler takes to load is its compilation.
enableCompileCache();
const { run } = await import("./command-line.ts");
const { terminal } = await import("@sluice/local/report/printer");
// What is done is done: a broker that ran in this process may have set timers, which nobody waits for any more.
process.exit(await run(process.argv.slice(2), terminal));
