import { setFlagsFromString } from "node:v8";

/**
 * By how much the heap may grow from one full collection to the next, in percent of what was left: as far as V8 ever
 * goes by itself.
 */
const HEAP_GROWTH_PERCENT = 300;

/**
 * Lets the heap of this process grow further until all of it is collected. V8 takes the buffers that requests are read
 * into for memory that stays, though most are gone with the next collection of the young: with batches of an SDK it
 * collected everything four times a second. Further apart, a batch takes a quarter less CPU time, most of it of V8's
 * other threads. With 1,000,000 messages waiting the process is no larger for it.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
}
