/** Frames of a call that are kept: that of a logger of the user's, and its callers. */
const FRAMES_MAX = 4;
/** Units of frames that are kept. */
const UNITS_MAX = 500;

/** V8's additions to `Error`. */
const v8 = Error as unknown as {
  stackTraceLimit: number;
  captureStackTrace(at: { stack: string }, above: (...args: never[]) => unknown): void;
};

/**
 * Returns the stack frames from where a function is called, each behind a line break; empty where there are none.
 *
 * @param called the function: its own frame and those above it are left out.
 */
export function placeOfCall(called: (...args: never[]) => unknown): string {
  const at = { stack: "" };
  const { stackTraceLimit } = v8;
  try {
    v8.stackTraceLimit = FRAMES_MAX;
    v8.captureStackTrace(at, called);
    const begin = at.stack.indexOf("\n");
    const frames = begin === -1 ? "" : at.stack.slice(begin);
    return frames.length <= UNITS_MAX ? frames : frames.slice(0, frames.lastIndexOf("\n", UNITS_MAX));
  } catch {
    // A program may have frozen `Error`, or have its own way to write stacks.
    return "";
  } finally {
    Reflect.set(v8, "stackTraceLimit", stackTraceLimit);
  }
}
