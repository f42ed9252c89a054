import { nodeRefusal } from "./refusal.ts";

/*
 * Checks the version of Node.js. The entries of packages import this module first. Their other modules may not import
 * names that only a newer Node.js has, because that would fail before this check.
 */

const refusal = nodeRefusal(process.versions.node);
if (refusal !== null) throw new Error(refusal);
