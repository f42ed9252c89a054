import { type Delivery, type DeliveryResult, ERROR_TEXT_MAX, withActiveTrace } from "@sluice/protocol";
import { BackgroundWork, microtasksDrained, type WaitUntilContext } from "./background-work.ts";
import type { BatchState } from "./batch-state.ts";
import type { DeliveryLines } from "./logs/delivery-lines.ts";
import { QueueController } from "./queue-controller.ts";

/** Warning of the runtime when a Worker gets a batch that it cannot handle (spec cloudflare-queues 2.5). */
const NO_HANDLER =
  "Received a QueueEvent but we lack a handler for QueueEvents. Did you remember to export a queue() function?";

/** Calls the user's handler. May throw, and may return anything. */
export type HandlerCall = (batch: QueueController) => unknown;

/** Part of an `AsyncLocalStorage`: code that `run` starts, also later, finds its `lines` by `getStore`. */
export interface AsyncContext {
  run<Result>(lines: DeliveryLines, run: () => Result): Result;
  getStore(): DeliveryLines | undefined;
}

export interface RunOptions {
  /**
   * Whether promises given to `ctx.waitUntil` belong to the batch: it ends after they do, and fails if one rejects
   * (spec cloudflare-queues 2.6). `false` where the flag `queue_consumer_no_wait_for_wait_until` is set.
   */
  readonly waitForWaitUntil: boolean;
  /**
   * Finds the delivery that prints a line. It needs the flag `nodejs_als` or `nodejs_compat`. Default: none, and lines
   * are taken only while a single delivery runs.
   */
  readonly context?: AsyncContext;
}

/**
 * Delivers a batch to a handler and reports what it did (spec cloudflare-queues 2.3, 2.5, 2.6). Never rejects: whatever
 * is thrown becomes the outcome `exception` and is printed with its stack. What the handler acknowledged before stays
 * acknowledged.
 *
 * @param findHandler looks for the handler; it may run the user's constructor.
 * @param state notes the handler's calls: readable for others while it runs.
 * @param lines takes what the handler prints. Default: nothing does.
 */
export async function runDelivery(
  delivery: Delivery,
  ctx: WaitUntilContext,
  findHandler: () => HandlerCall | undefined,
  { waitForWaitUntil, context }: RunOptions,
  state: BatchState,
  lines: DeliveryLines | null = null,
): Promise<DeliveryResult> {
  const errors: Pick<DeliveryResult, "error" | "stack">[] = [];
  const print = (thrown: unknown) => {
    try {
      if (lines === null) console.error(thrown);
      else lines.mute(() => console.error(thrown));
    } catch {
      // A program may have replaced the console by one that throws.
    }
  };
  const fail = (thrown: unknown) => {
    print(thrown);
    errors.push({ error: firstLine(thrown), ...stackOf(thrown) });
  };
  const work = new BackgroundWork(waitForWaitUntil ? fail : print);
  work.watch(ctx);
  // Stack traces are cut at this name: `fittedStack`.
  const sluiceHandlerRun = async () => {
    const batch = new QueueController(delivery, state);
    const handler = findHandler();
    if (handler !== undefined) {
      const trace = QueueController.trace(batch);
      await (trace === null ? handler(batch) : withActiveTrace(trace, () => handler(batch)));
    } else {
      console.warn(NO_HANDLER);
      errors.push({ error: NO_HANDLER });
    }
  };
  try {
    await (lines === null || context === undefined
      ? sluiceHandlerRun()
      : context.run(lines, sluiceHandlerRun));
  } catch (thrown) {
    fail(thrown);
  }
  await (waitForWaitUntil ? work.settled() : microtasksDrained());
  const [error] = errors;
  const calls = state.calls();
  return error === undefined ? { outcome: "ok", ...calls } : { outcome: "exception", ...calls, ...error };
}

/**
 * The first line of what was thrown, for the broker's log. JavaScript throws anything, and some of it has no text: then
 * its type must do.
 */
function firstLine(thrown: unknown): string {
  try {
    return String(thrown).split("\n", 1)[0] ?? "";
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

/** Causes of a cause that are followed. */
const CAUSES_MAX = 5;

/** The stack of what was thrown with those of its causes; nothing for what has none. */
function stackOf(thrown: unknown): { readonly stack?: string } {
  try {
    const stacks: string[] = [];
    for (let error = thrown; error instanceof Error && stacks.length < CAUSES_MAX; error = error.cause) {
      stacks.push(String(error.stack ?? error));
    }
    return stacks.length === 0 ? {} : { stack: stacks.join("\nCaused by: ").slice(0, ERROR_TEXT_MAX) };
  } catch {
    // A getter of the user's may throw.
    return {};
  }
}
