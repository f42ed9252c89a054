import type { LastEnd } from "@sluice/protocol";
import { type DeliveriesRead, describeInDelivery, workersIn } from "./in-delivery.ts";
import { consequence } from "./suspects.ts";

/**
 * Returns the warning that the Workers do not answer. `endText` says later whose code may be at fault.
 *
 * @param isStarting whether they have never answered.
 * @param isLeftAlone whether they may be stopped in a debugger, so that they are not ended.
 */
export function silentText(ms: number, isStarting: boolean, isLeftAlone: boolean): string {
  const seconds = ms / 1_000;
  const then = isLeftAlone ? "With a debugger's port open, workerd is left alone." : "workerd is ended.";
  return isStarting
    ? `workerd has not answered for ${seconds} s since its start: the machine is too busy, or a Worker hangs. ${then}`
    : `The Workers have not answered for ${seconds} s. ${then}`;
}

/**
 * Returns the text that says how workerd has ended, the possible reason, and which deliveries count as attempts.
 *
 * @param how `silent` if it was ended because it did not answer; else the code with which it ended by itself.
 */
export function endText(how: "silent" | number, end: LastEnd, read: DeliveriesRead): string {
  const what = how === "silent" ? "workerd was ended" : `workerd has ended by itself with ${how}`;
  const isIdle = read.kind === "read" && read.deliveries.length === 0;
  return [
    ...(how === "silent" ? silenceText(workersIn(read)) : []),
    `${what} and is started again.`,
    ...(isIdle ? [] : [consequence(end)]),
  ]
    .join(" ")
    .concat("\n", describeInDelivery(read));
}

/** @param workers Workers that had deliveries; `null` if that is not known. */
function silenceText(workers: readonly string[] | null): string[] {
  if (workers === null) return [];
  return workers.length > 0
    ? ["A handler computes without a pause, or never ends."]
    : [
        "No queue() handler was at work: other code of the Workers, such as fetch(), computes without a pause, " +
          "or the machine is too busy.",
      ];
}
