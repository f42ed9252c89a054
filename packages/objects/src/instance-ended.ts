/** Error that an object gets whose instance has ended: its code may go on for a while, and changes nothing any more. */
export class InstanceEndedError extends Error {
  override readonly name = "InstanceEndedError";
}

/**
 * Returns a promise that never settles, for code that is to hear of nothing any more. Each call makes another one: a
 * promise keeps all that await it.
 */
export function never(): Promise<never> {
  return new Promise(() => {});
}

let isHeard = false;

/**
 * Code of an instance that has ended meets `InstanceEndedError` wherever it goes on, and may await nothing of that.
 * The platform stops such code, and logs what else an object rejects without being heard; Node.js would end the
 * process, and every other object with it.
 *
 * @param error is told of all other rejections that nobody handles, wherever in the process they come from.
 */
export function outliveRejections(error: (line: string) => void): void {
  if (isHeard) return;
  isHeard = true;
  process.on("unhandledRejection", (reason: unknown) => {
    if (reason instanceof InstanceEndedError) return;
    error(`a promise was rejected and nobody heard: ${reason instanceof Error ? reason.stack : reason}`);
  });
}
