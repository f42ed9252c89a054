import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Collects all garbage now. V8 lets read buffers of 64 KiB pile up to 150 MB when thousands of clients send at once: it
 * collects by the size of the heap, and these buffers are outside of it. A test of `serve-load.slow.test.ts` needs it:
 * "keeps its size under 4,000 heads of 60 KB without an end, and answers other clients".
 */
export function collectGarbage(): void {
  collect ??= collector();
  collect();
}

/** Returns V8's `gc`, which V8 exposes to contexts that are created after the flag is set. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  return gc;
}
