import { nodeRefusal } from "./refusal.ts";

/*
 * Checks the version of Node.js. The entries of packages import this first, so that a Node.js that is too old is named.
 * Their other modules may not import newer names from Node.js, because that would fail before this check.
 */

const refusal = nodeRefusal(process.versions.node);
if (refusal !== null) throw new Error(refusal);
