import { enableCompileCache } from "node:module";
import { run } from "./command-line.ts";
import { terminal } from "./report/printer.ts";

// Half of the second that Wrangler takes to load is its compilation.
enableCompileCache();
// What is done is done: a broker that ran in this process may have set timers, which nobody waits for any more.
process.exit(await run(process.argv.slice(2), terminal));
