/**
 * Waits for a call to one of many queues. Its failure is logged, so that a queue that cannot be opened does not stop
 * the calls to the others.
 *
 * @param what purpose of the call, in words that follow "it was not".
 * @returns the answer; `null` where the call has failed.
 */
export async function orLogged<Answer>(
  queue: string,
  what: string,
  call: Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    console.error(`Queue "${queue}": it was not ${what}: ${error}`);
    return null;
  }
}
