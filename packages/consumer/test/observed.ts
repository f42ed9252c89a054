import { WorkerEntrypoint } from "cloudflare:workers";
import { OBSERVATIONS } from "./observations.ts";

const PREFIX = "observe ";
class Other extends WorkerEntrypoint {
  hasContext(ctx: unknown): boolean {
    return this.ctx === ctx;
  }
}

let observed: unknown;

/** Runs the observation that the queue is named after, if it is one, and keeps what it saw. */
export function observe(batch: MessageBatch, env: unknown, ctx: ExecutionContext, self: unknown): boolean {
  if (!batch.queue.startsWith(PREFIX)) return false;
  const look = OBSERVATIONS[batch.queue.slice(PREFIX.length)];
  try {
    observed = { seen: look?.({ batch, env, ctx, self, Other }) ?? null };
  } catch (error) {
    observed = { thrown: String(error) };
  }
  return true;
}

/** Returns the result of the last observation, and forgets it. */
export function lastObserved(): unknown {
  const seen = observed;
  observed = undefined;
  return seen;
}
