import type { Payload } from "../workload/payload.ts";
import { preciseNow } from "./peer-client.ts";
import { JOB_TYPE, openPlainjob } from "./plainjob-library.ts";

/**
 * plainjob's worker, in a process of its own as its documentation advises: while it has work it never gives way to the
 * event loop. It tells its parent what it has handled, many jobs in one message.
 */
const POLL_MS = 1;
const REPORTED_AT_ONCE = 50;

let handled: (string | number)[] = [];
const report = () => {
  if (handled.length > 0) process.send?.(handled);
  handled = [];
};

const [packages = "", folder = "", sync = ""] = process.argv.slice(2);
const { library, queue, logger } = openPlainjob(packages, folder, sync === "synced");
const worker = library.defineWorker(
  JOB_TYPE,
  ({ data }) => {
    handled.push((JSON.parse(data) as Payload).sentMs, preciseNow());
    if (handled.length >= 2 * REPORTED_AT_ONCE) report();
  },
  { queue, pollIntervall: POLL_MS, logger },
);
process.once("disconnect", () => process.exit());
process.send?.("ready");
// Runs when the worker has nothing left to do: only then do timers get their turn.
setInterval(report, POLL_MS);
await worker.start();
