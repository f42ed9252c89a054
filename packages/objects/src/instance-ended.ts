/** Error for code of an instance that has ended. The code may go on for a while, but cannot change anything. */
export class InstanceEndedError extends Error {
  override readonly name = "InstanceEndedError";
}

/**
 * Returns a promise that never settles, for code of an instance that has ended. Each call makes a new one, since a
 * promise keeps everything that awaits it in memory.
 */
export function never(): Promise<never> {
  return new Promise(() => {});
}

let isListening = false;

/**
 * Keeps unhandled rejections from ending the process, and with it every object. Code of an instance that has ended gets
 * `InstanceEndedError`s that it may not handle: these are ignored. The platform stops such code, and logs other
 * unhandled rejections of an object.
 *
 * @param error called with a line for every other unhandled rejection, wherever in the process it comes from.
 */
export function outliveRejections(error: (line: string) => void): void {
  if (isListening) return;
  isListening = true;
  process.on("unhandledRejection", (reason: unknown) => {
    if (reason instanceof InstanceEndedError) return;
    error(`a promise was rejected and nobody heard: ${reason instanceof Error ? reason.stack : reason}`);
  });
}
