import { env, WorkerEntrypoint } from "cloudflare:workers";
import { createQueueConsumer } from "../src/index.ts";
import { lastObserved, observe } from "./observed.ts";
import { runProgram } from "./program.ts";

/** The same handlers for workerd's own dispatch and for ours. */
const handlers = {
  mark: "the exported object",
  fetch: () => Response.json(lastObserved() ?? null),
  queue(this: unknown, batch: MessageBatch, environment: unknown, ctx: ExecutionContext): unknown {
    if (observe(batch, environment, ctx, this)) return undefined;
    return runProgram(batch, ctx);
  },
};

export default handlers;

export class ClassHandlers extends WorkerEntrypoint {
  readonly mark = "an instance";
  #secret = "private";

  secret(): string {
    return this.#secret;
  }

  /** A method of the user's with the name of one of ours. */
  deliver(): string {
    return "mine";
  }

  override queue(batch: MessageBatch): Promise<void> | void {
    if (observe(batch, this.env, this.ctx, this)) return;
    return runProgram(batch, this.ctx) as Promise<void> | void;
  }
}

const { WAIT_FOR_WAIT_UNTIL } = env as { readonly WAIT_FOR_WAIT_UNTIL?: string };
const options = { waitForWaitUntil: WAIT_FOR_WAIT_UNTIL === "yes" };

export const OurConsumer = createQueueConsumer(handlers, options);
export const OurClassConsumer = createQueueConsumer(ClassHandlers, options);
