#!/usr/bin/env node
import { refusalOf } from "./node-version.ts";

const refusal = refusalOf(process.versions.node);
if (refusal !== null) {
  console.error(refusal);
  process.exit(1);
}
// Loaded only then: an older Node.js does not get as far as running a module that imports what it does not have.
await import("./start.ts");
