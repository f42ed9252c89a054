import { DataInUseError, lockData } from "../src/data-lock.ts";

/** What a test tells a process that contends for a data folder. */
export type Order = { readonly takeAtMs: number } | { readonly free: true };
/** What that says of it. */
export type Outcome = "ready" | "held" | "in use" | "freed" | { readonly failed: string };

/** A process that takes the folder of its first argument when it is told to, at one moment with others. */
const [, , folder = ""] = process.argv;
let free: (() => void) | null = null;

process.on("message", (order: Order) => {
  if ("free" in order) {
    free?.();
    free = null;
    say("freed");
    return;
  }
  // Timers of two processes are a millisecond apart. This is not.
  while (performance.timeOrigin + performance.now() < order.takeAtMs);
  try {
    free = lockData(folder, "sluice serve");
    say("held");
  } catch (error) {
    say(error instanceof DataInUseError ? "in use" : { failed: String(error) });
  }
});
process.on("disconnect", () => process.exit());
say("ready");

function say(outcome: Outcome): void {
  process.send?.(outcome);
}
