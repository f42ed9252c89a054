import type { RowHead } from "../scenario/row.ts";
import { type AnyQueue, outcome, type QueueSpec, type Scenario } from "../scenario/scenario.ts";

/** Queue with a consumer, for scenarios that do not observe its deliveries. */
export const ANY: QueueSpec = { name: "any", consumer: { max_batch_size: 100, max_batch_timeout: 1 } };

/** Case of a call of the binding. `expected` is its result by `outcome`. */
interface BindingCase extends RowHead, Pick<Scenario, "sender" | "expected"> {
  /** Calls the binding. */
  readonly call: (queue: AnyQueue, env: Readonly<Record<string, AnyQueue>>) => unknown;
}

/** Makes a scenario that observes only the result of a call of the binding. */
export function bindingCase({ call, ...row }: BindingCase): Scenario {
  return {
    queues: { q: ANY },
    send: ({ q }, env) => outcome(() => call(q, env)),
    observe: ({ sent }) => String(sent),
    ...row,
  };
}
