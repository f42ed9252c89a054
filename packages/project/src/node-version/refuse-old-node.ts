import { refusalOf } from "./refusal.ts";

/*
 * The entries of packages import this first: a Node.js that is too old is told so. What else they import takes nothing
 * by name from Node.js that came later, since that would fail before anything runs.
 */

const refusal = refusalOf(process.versions.node);
if (refusal !== null) throw new Error(refusal);
