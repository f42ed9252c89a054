import type { RowHead } from "../scenario/row.ts";
import { type AnyQueue, outcome, type QueueSpec, type Scenario } from "../scenario/scenario.ts";

/** A queue with a consumer, for scenarios that do not look at its deliveries. */
export const ANY: QueueSpec = { name: "any", consumer: { max_batch_size: 100, max_batch_timeout: 1 } };

/** `expected` is the result of the call: the value as JSON, or the error as text. */
interface BindingCase extends RowHead, Pick<Scenario, "sender" | "expected"> {
  /** Calls the binding. */
  readonly call: (queue: AnyQueue, env: Readonly<Record<string, AnyQueue>>) => unknown;
}

/** A scenario that looks at the result of a call of the binding alone. */
export function bindingCase({ call, ...row }: BindingCase): Scenario {
  return {
    queues: { q: ANY },
    send: ({ q }, env) => outcome(() => call(q, env)),
    observe: ({ sent }) => String(sent),
    ...row,
  };
}
