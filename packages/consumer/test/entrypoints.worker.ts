import { WorkerEntrypoint } from "cloudflare:workers";
import { createQueueConsumer } from "../src/index.ts";

/** Consumers that do one thing each. */

const WAIT = { waitForWaitUntil: true };
const NO_WAIT = { waitForWaitUntil: false };

export const WithoutDefaultExport = createQueueConsumer(undefined, WAIT);
export const WithoutHandler = createQueueConsumer({ fetch: () => new Response() }, WAIT);
export const WithWrongHandler = createQueueConsumer({ queue: 5 }, WAIT);
export const ClassWithoutHandler = createQueueConsumer(class extends WorkerEntrypoint {}, WAIT);

export const Throwing = createQueueConsumer(
  {
    async queue(batch: MessageBatch) {
      batch.messages[0]?.ack();
      await null;
      throw new RangeError("the handler failed\nfor two lines");
    },
  },
  WAIT,
);

export const BrokenConstructor = createQueueConsumer(
  class extends WorkerEntrypoint {
    constructor(ctx: ExecutionContext, env: unknown) {
      super(ctx, env as Cloudflare.Env);
      throw new Error("the constructor failed");
    }
  },
  WAIT,
);

let instances = 0;
export const Counting = createQueueConsumer(
  class extends WorkerEntrypoint {
    #calls = 0;
    readonly #instance = ++instances;

    override queue(): void {
      this.#calls += 1;
      console.log(`instance ${this.#instance}, call ${this.#calls}`);
    }
  },
  WAIT,
);

export const Hanging = createQueueConsumer(
  {
    queue: (batch: MessageBatch) => {
      batch.messages[0]?.ack();
      return new Promise(() => {});
    },
  },
  WAIT,
);

const workInBackground = (begins: () => Promise<void>) => ({
  queue(batch: MessageBatch, _env: unknown, ctx: ExecutionContext) {
    const work = async () => {
      await begins();
      batch.messages[0]?.retry();
      console.log("background work is done");
      throw new Error("background work failed");
    };
    ctx.waitUntil(work());
  },
});
export const Late = createQueueConsumer(
  workInBackground(() => scheduler.wait(20)),
  WAIT,
);

let isReported = false;
/** Lets the background work of `LateNoWait` begin. */
export const Reported = createQueueConsumer(
  {
    queue: () => {
      isReported = true;
    },
  },
  WAIT,
);
export const LateNoWait = createQueueConsumer(
  workInBackground(async () => {
    while (!isReported) await scheduler.wait(5);
  }),
  NO_WAIT,
);

/** Wraps a handler as OpenTelemetry's wrapper for Workers does: in a function that has no methods, not even `call`. */
const bare = (handler: (...args: never[]) => unknown) => new Proxy(handler, { get: () => undefined });
export const Wrapped = createQueueConsumer(
  {
    mark: "the exported object",
    queue: bare(function (this: { mark: string }, batch: MessageBatch) {
      console.log(`wrapped handler of ${this.mark}`);
      batch.ackAll();
    }),
  },
  WAIT,
);

export default {};
