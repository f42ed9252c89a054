import type { Writable } from "node:stream";

/** Waits until all that was written to a stream is out, or its reader is gone: an exit cuts what a pipe has no room for. */
export function written(stream: Writable): Promise<void> {
  stream.on("error", () => {});
  return new Promise((resolve) => stream.write("", () => resolve()));
}
