import { DataInUseError, lockData } from "@sluice/local/data/data-lock";

/** Order of a test to a process that contends for a data folder. */
export type Order = { readonly takeAtMs: number } | { readonly free: true };
/** Answer of that process. */
export type Outcome = "ready" | "held" | "in use" | "freed" | { readonly failed: string };

/** A process that takes the folder of its first argument when it is told to, at one moment with others. */
const [, , folder = ""] = process.argv;
let free: (() => void) | null = null;

/** Memory that is never notified: to wait for it takes as long as is said, and no processor. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));
/** How long before its moment it looks at the clock all the time: what it may be woken late. */
const AWAKE_MS = 0.5;

process.on("message", (order: Order) => {
  if ("free" in order) {
    free?.();
    free = null;
    say("freed");
    return;
  }
  // Timers of two processes are a millisecond apart. This is not.
  Atomics.wait(NEVER, 0, 0, Math.max(0, msUntil(order.takeAtMs) - AWAKE_MS));
  while (msUntil(order.takeAtMs) > 0);
  try {
    free = lockData(folder, "sluice serve");
    say("held");
  } catch (error) {
    say(error instanceof DataInUseError ? "in use" : { failed: String(error) });
  }
});
process.on("disconnect", () => process.exit());
say("ready");

function msUntil(atMs: number): number {
  return atMs - performance.timeOrigin - performance.now();
}

function say(outcome: Outcome): void {
  process.send?.(outcome);
}
