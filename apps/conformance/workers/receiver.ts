import { receive, seenSoFar } from "./receive.ts";

/** Consumes with a handler that is a method of an object. */
export default {
  fetch: () => seenSoFar(),
  // Not async: what the scenarios return has to reach the runtime as it is.
  queue: (batch, _env, ctx) => receive(batch, ctx) as Promise<void>,
} satisfies ExportedHandler;
