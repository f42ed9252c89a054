import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Collects all garbage now. V8 lets buffers of 64 KiB that were read pile up to 150 MB when thousands of strangers send
 * at once: it collects by what the heap holds, and they are outside of it. A test of `serve-load.slow.test.ts` needs
 * it: "keeps its size under 4,000 heads of 60 KB without an end, and answers other clients".
 */
export function collectGarbage(): void {
  collect ??= collector();
  collect();
}

/** V8's own, which it shows to contexts that are made after the flag is set. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  return gc;
}
