/**
 * Turns of the microtask queue that requests of one moment need at most to come to the same point, one after the other: what
 * is awaited on the way from a request to the call that it makes, and back, with room to spare.
 */
export const COMPANY_TURNS = 24;

/**
 * Resolves after so many turns of the microtask queue, before anything new is heard from outside.
 *
 * @param isDone whether there is nothing more to wait for. Default: never.
 */
export async function turns(count: number, isDone: () => boolean = () => false): Promise<void> {
  for (let turn = 0; turn < count && !isDone(); turn++) await undefined;
}
