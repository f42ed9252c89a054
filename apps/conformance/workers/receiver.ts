import { receive, seenSoFar } from "./receive.ts";

/** Consumes with a handler that is a method of an object. */
export default {
  fetch: () => seenSoFar(),
  // Not async, so that the runtime gets the scenario's own result.
  queue: (batch, _env, ctx) => receive(batch, ctx) as Promise<void>,
} satisfies ExportedHandler;
