import { type Delivery, type DeliveryReply, NO_CALLS } from "@sluice/protocol";
import { endedBeginning, INTERRUPTED_ERROR } from "../wire.ts";
import { type Ending, Invocation } from "./invocation.ts";

/** Interruption by an exception when the handler acknowledges or retries a message. */
interface Throw {
  readonly id: string;
  /** After `throwAfter` the handler's earlier calls count; after `crash` none does. */
  readonly kind: "throwAfter" | "crash";
}

/** Point at which the handler of a delivery is interrupted. */
export type Interruption = Throw | Ending;

export interface InterruptibleDelivery extends Delivery {
  readonly interruption?: Interruption;
}

/** Members of a message with which a handler settles it. */
type Settling = Pick<Message, "id" | "ack" | "retry">;
type Handler = (batch: Pick<MessageBatch, "messages">, env: unknown, ctx: unknown) => unknown;
type HandlerClass = new (...args: unknown[]) => object;

/** Interruptions of running deliveries, by their message. */
const running = new Map<string, Throw>();

/** An injected error in a handler. */
class InterruptedError extends Error {
  override readonly name = INTERRUPTED_ERROR;
}

/** Wraps the default export of a Worker so that its `queue()` handler can be interrupted. */
export function interruptible(defaultExport: unknown): unknown {
  if (typeof defaultExport !== "function") return withInterruptions(defaultExport);
  const Handlers = defaultExport as HandlerClass;
  return function construct(...args: unknown[]): object {
    return withInterruptions(new Handlers(...args));
  };
}

function withInterruptions(handlers: unknown): { readonly queue?: Handler } {
  const queue = (handlers as { readonly queue?: unknown } | null | undefined)?.queue;
  if (typeof queue !== "function") return {};
  return {
    queue: (batch, env, ctx) => {
      for (const message of batch.messages) {
        const interruption = running.get(message.id);
        if (interruption !== undefined) interruptAt(message, interruption);
      }
      return Reflect.apply(queue, handlers, [batch, env, ctx]);
    },
  };
}

function interruptAt(message: Settling, { kind }: Throw): void {
  for (const name of ["ack", "retry"] as const) {
    const call: (...args: never[]) => void = message[name];
    const value = (...args: unknown[]) => {
      Reflect.apply(call, message, args);
      throw new InterruptedError(`fault ${kind}: the handler ends after ${name}() of message ${message.id}`);
    };
    Object.defineProperty(message, name, { value, configurable: true, writable: true });
  }
}

/** Runs a delivery whose handler is interrupted. */
export function interruptedBy(
  interruption: Interruption,
  deliver: () => Promise<DeliveryReply>,
): Promise<DeliveryReply> {
  return "id" in interruption ? thrownFrom(interruption, deliver) : endedBy(interruption, deliver);
}

async function thrownFrom(
  { id, kind }: Throw,
  deliver: () => Promise<DeliveryReply>,
): Promise<DeliveryReply> {
  running.set(id, { id, kind });
  try {
    const reply = await deliver();
    return kind === "crash" && typeof reply === "object" ? { ...reply, ...NO_CALLS } : reply;
  } finally {
    running.delete(id);
  }
}

/** Runs a delivery whose handler ends at a call. No acknowledgement arrives, as from a destroyed isolate. */
async function endedBy(ending: Ending, deliver: () => Promise<DeliveryReply>): Promise<DeliveryReply> {
  const invocation = new Invocation(ending);
  const ended = async (): Promise<DeliveryReply> => {
    return {
      outcome: "exception",
      ...NO_CALLS,
      error: `${endedBeginning(ending.kind)}${await invocation.ended}`,
    };
  };
  return Promise.race([invocation.run(deliver), ended()]);
}
