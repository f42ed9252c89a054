import { env, WorkerEntrypoint } from "cloudflare:workers";
import { createQueueConsumer } from "../src/index.ts";
import { runProgram } from "./program.ts";

/** The same handlers for workerd's own dispatch and for ours. */
const handlers = {
  queue: (batch: MessageBatch, _env: unknown, ctx: ExecutionContext) => runProgram(batch, ctx),
};

export default handlers;

export class ClassHandlers extends WorkerEntrypoint {
  override queue(batch: MessageBatch): Promise<void> | void {
    return runProgram(batch, this.ctx) as Promise<void> | void;
  }
}

const { WAIT_FOR_WAIT_UNTIL } = env as { readonly WAIT_FOR_WAIT_UNTIL?: string };
const options = { waitForWaitUntil: WAIT_FOR_WAIT_UNTIL === "yes" };

export const OurConsumer = createQueueConsumer(handlers, options);
export const OurClassConsumer = createQueueConsumer(ClassHandlers, options);
