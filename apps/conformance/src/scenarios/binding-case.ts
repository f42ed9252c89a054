import type { RowHead } from "../scenario/row.ts";
import { type AnyQueue, outcome, type QueueSpec, type Scenario } from "../scenario/scenario.ts";

/** A queue for whatever needs one that is consumed, and does not look at what comes out. */
export const ANY: QueueSpec = { name: "any", consumer: { max_batch_size: 100, max_batch_timeout: 1 } };

/** `expected` is what the call comes to: the value as JSON, or the error as text. */
interface BindingCase extends RowHead, Pick<Scenario, "sender" | "expected"> {
  /** Calls the binding. */
  readonly call: (queue: AnyQueue, env: Readonly<Record<string, AnyQueue>>) => unknown;
}

/** A scenario that looks at nothing but what a call of the binding comes to. */
export function bindingCase({ call, ...row }: BindingCase): Scenario {
  return {
    queues: { q: ANY },
    send: ({ q }, env) => outcome(() => call(q, env)),
    observe: ({ sent }) => String(sent),
    ...row,
  };
}
