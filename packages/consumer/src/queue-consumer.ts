import { WorkerEntrypoint } from "cloudflare:workers";
import {
  type Delivery,
  type DeliveryReply,
  deliveryReply,
  type HandlerCalls,
  inSpan,
  isSpoken,
  type LogLevel,
  protocolRefusal,
  type QueueConsumerRpc,
  REFUSED,
} from "@sluice/protocol";
import { BatchState } from "./batch-state.ts";
import { DeliveryLines } from "./logs/delivery-lines.ts";
import { deliveryName } from "./logs/delivery-name.ts";
import { type Called, consoleWatch } from "./logs/watch-console.ts";
import type { QueueController } from "./queue-controller.ts";
import { type HandlerCall, type RunOptions, runDelivery } from "./run-delivery.ts";
import { UnfinishedDeliveries } from "./unfinished.ts";

const THE_BROKER = "the broker";
const THIS_WORKER = "its consumer";
/** Name of the span in which a handler runs. */
const HANDLER_SPAN = "queue";

/** A class of handlers, as `export default class extends WorkerEntrypoint`. */
type EntrypointClass = new (ctx: ExecutionContext, env: unknown) => object;

type QueueHandler = (batch: QueueController, env: unknown, ctx: ExecutionContext) => unknown;

/** The class that a consumer's generated entry exports under a name, and that the broker calls. */
export type QueueConsumerClass = new (
  ctx: ExecutionContext,
  env: unknown,
) => WorkerEntrypoint<unknown> & QueueConsumerRpc;

/**
 * Wraps the default export of a consumer Worker into an entrypoint that the broker delivers to. Export the class under
 * the name that the broker calls.
 *
 * A handler that hangs, that is, waits with nothing left that could wake it, is ended by the runtime. Then `deliver`
 * rejects, and the caller takes that for an exception and asks `callsOf` what was acknowledged before.
 *
 * @param defaultExport an object with a `queue` method, or a class that extends `WorkerEntrypoint` and has one. The
 *   class is instantiated for every batch, as the runtime does; it is not extended, so that its methods and ours cannot
 *   collide. Without a handler every batch fails, and the console says why.
 * @example
 * ```ts
 * import handlers from "./the-users-module";
 *
 * export const SluiceQueueConsumer = createQueueConsumer(handlers, { waitForWaitUntil: true });
 * ```
 */
export function createQueueConsumer(defaultExport: unknown, options: RunOptions): QueueConsumerClass {
  const unfinished = new UnfinishedDeliveries();
  const { context } = options;
  const taken = (level: LogLevel, args: readonly unknown[], called: Called) => {
    if (context === undefined) return unfinished.printed(level, args, called);
    const lines = context.getStore();
    lines?.add(level, args, called);
    return lines?.name ?? null;
  };
  const linesOf = (delivery: Delivery): DeliveryLines | null => {
    if (delivery.logs !== true) return null;
    consoleWatch.begin(taken);
    const isOfWorker = context === undefined;
    return new DeliveryLines({
      isOfWorker,
      name: () => deliveryName(delivery, isOfWorker),
      ...(isOfWorker ? { justPrinted: unfinished.justPrinted } : {}),
    });
  };

  return class QueueConsumer extends WorkerEntrypoint<unknown> implements QueueConsumerRpc {
    async deliver(delivery: Delivery, protocol?: number): Promise<DeliveryReply> {
      if (!isSpoken(protocol)) return refused(protocol);
      const { ctx, env } = this;
      const findHandler = (): HandlerCall | undefined => {
        const handlers = isEntrypointClass(defaultExport) ? new defaultExport(ctx, env) : defaultExport;
        const queue = handlerOf(handlers);
        if (queue === undefined) return undefined;
        // Stack traces are cut at this name: `fittedStack`.
        return function sluiceHandlerCall(batch) {
          return inSpan(ctx.tracing, HANDLER_SPAN, attributesOf(batch), () =>
            // Not by the handler's own methods: the wrapper of a tracing library may have none.
            Reflect.apply(queue, handlers, [batch, env, ctx]),
          );
        };
      };
      const lines = linesOf(delivery);
      const state = new BatchState((message) => console.warn(message), lines);
      unfinished.begin(delivery.id, state, lines);
      try {
        return deliveryReply(await runDelivery(delivery, ctx, findHandler, options, state, lines));
      } finally {
        unfinished.end(delivery.id);
      }
    }

    callsOf(deliveryId: string): Promise<HandlerCalls | null> {
      return Promise.resolve(unfinished.take(deliveryId));
    }

    async ping(protocol?: number): Promise<"pong"> {
      if (!isSpoken(protocol)) throw new Error(protocolRefusal(THE_BROKER, THIS_WORKER, protocol));
      return "pong";
    }
  };
}

/** Attributes of the span of a batch, as of the runtime's own. */
function attributesOf({ queue, messages }: QueueController): Readonly<Record<string, string | number>> {
  return { "cloudflare.queue.name": queue, "cloudflare.queue.batch_size": messages.length };
}

function refused(protocol: unknown): DeliveryReply {
  const error = protocolRefusal(THE_BROKER, THIS_WORKER, protocol);
  const nothing = { ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };
  return { outcome: REFUSED, ...nothing, error };
}

function isEntrypointClass(defaultExport: unknown): defaultExport is EntrypointClass {
  return typeof defaultExport === "function";
}

function handlerOf(handlers: unknown): QueueHandler | undefined {
  const queue: unknown = (handlers as { readonly queue?: unknown } | null | undefined)?.queue;
  return typeof queue === "function" ? (queue as QueueHandler) : undefined;
}
