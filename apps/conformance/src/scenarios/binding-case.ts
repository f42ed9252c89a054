import { outcome } from "../scenario/outcome.ts";
import type { AnyQueue, QueueSpec, Scenario, SenderName } from "../scenario/scenario.ts";

/** A queue for whatever needs one that is consumed, and does not look at what comes out. */
export const ANY: QueueSpec = { name: "any", consumer: { max_batch_size: 100, max_batch_timeout: 1 } };

interface BindingCase {
  readonly id: string;
  readonly production: string;
  readonly covers: readonly string[];
  readonly reason?: string;
  readonly sender?: SenderName;
  /** What is done with the binding. */
  readonly call: (queue: AnyQueue, env: Readonly<Record<string, AnyQueue>>) => unknown;
  /** What it comes to: the value as JSON, or the error as text. */
  readonly expected: string;
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
