/** Behaviour of a handler towards its batch, as data, so that the same can be done in two Workers. Runs in workerd. */
export interface Program {
  /** Whether the handler is an async function. */
  readonly async: boolean;
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly do: "ack"; readonly message: number }
  | { readonly do: "retry"; readonly message: number; readonly options: RetryOptions }
  | { readonly do: "ackAll" }
  | { readonly do: "retryAll"; readonly options: RetryOptions }
  | { readonly do: "throw"; readonly what: Thrown }
  /** That many microtasks pass, in async code. */
  | { readonly do: "await"; readonly microtasks: number }
  /** Time passes, in async code. */
  | { readonly do: "sleep" }
  /** The steps go on beside the handler, and it tells the runtime so. */
  | { readonly do: "waitUntil"; readonly steps: readonly Step[] }
  /** The steps go on beside the handler, which does not wait for them. */
  | { readonly do: "float"; readonly steps: readonly Step[] };

export type RetryOptions = keyof typeof RETRY_OPTIONS;
export type Thrown = keyof typeof THROWN;

/** Arguments of `retry()` and `retryAll()`, right and wrong. */
export const RETRY_OPTIONS = {
  none: () => [],
  undefined: () => [undefined],
  null: () => [null],
  "{}": () => [{}],
  "0": () => [{ delaySeconds: 0 }],
  "2": () => [{ delaySeconds: 2 }],
  "3": () => [{ delaySeconds: 3 }],
  "4": () => [{ delaySeconds: 4 }],
  "5": () => [{ delaySeconds: 5 }],
  "7": () => [{ delaySeconds: 7 }],
  "8": () => [{ delaySeconds: 8 }],
  "9": () => [{ delaySeconds: 9 }],
  "-1": () => [{ delaySeconds: -1 }],
  "1.9": () => [{ delaySeconds: 1.9 }],
  '"7"': () => [{ delaySeconds: "7" }],
  NaN: () => [{ delaySeconds: Number.NaN }],
  "null seconds": () => [{ delaySeconds: null }],
  "undefined seconds": () => [{ delaySeconds: undefined }],
  "86401": () => [{ delaySeconds: 86_401 }],
  "2^31": () => [{ delaySeconds: 2 ** 31 }],
  "a symbol": () => [{ delaySeconds: Symbol("s") }],
  "a number": () => [5],
  "a function": () => [() => 5],
} satisfies Record<string, () => unknown[]>;

export const THROWN = {
  error: () => new Error("thrown\nin two lines"),
  string: () => "thrown",
  null: () => null,
  undefined: () => undefined,
  object: () => Object.create(null),
} satisfies Record<string, () => unknown>;

/** Does to the batch what the program says that its queue is named after. */
export function runProgram(batch: MessageBatch, ctx: ExecutionContext): unknown {
  const program = JSON.parse(batch.queue) as Program;
  if (program.async) return runAsync(program.steps, batch, ctx);
  for (const step of program.steps) runStep(step, batch, ctx);
  return undefined;
}

async function runAsync(steps: readonly Step[], batch: MessageBatch, ctx: ExecutionContext): Promise<void> {
  for (const step of steps) {
    if (step.do === "await") for (let i = 0; i < step.microtasks; i++) await null;
    else if (step.do === "sleep") await scheduler.wait(1);
    else runStep(step, batch, ctx);
  }
}

function runStep(step: Step, batch: MessageBatch, ctx: ExecutionContext): void {
  switch (step.do) {
    case "ack":
      messageOf(step, batch).ack();
      break;
    case "retry": {
      const message = messageOf(step, batch);
      Reflect.apply(message.retry, message, RETRY_OPTIONS[step.options]());
      break;
    }
    case "ackAll":
      batch.ackAll();
      break;
    case "retryAll":
      Reflect.apply(batch.retryAll, batch, RETRY_OPTIONS[step.options]());
      break;
    case "throw":
      throw THROWN[step.what]();
    case "waitUntil":
      ctx.waitUntil(runAsync(step.steps, batch, ctx));
      break;
    case "float":
      runAsync(step.steps, batch, ctx).catch(() => {});
      break;
    case "await":
    case "sleep":
      break;
  }
}

function messageOf(step: { readonly message: number }, batch: MessageBatch): Message {
  const message = batch.messages[step.message % batch.messages.length];
  if (message === undefined) throw new Error("a trial has messages");
  return message;
}
