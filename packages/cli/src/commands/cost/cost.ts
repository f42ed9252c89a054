import type { QueueView } from "@sluice/gateway/views";
import { costsOf } from "@sluice/prices";
import { CliError } from "@sluice/project/errors";
import { allQueues, queueNamed } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { textOfAll, textOfOne } from "./text.ts";

/** `sluice cost`: prints the costs of one queue, or of all. */
export async function showCost(on: OnBroker, name: string | null): Promise<number> {
  const queues = name === null ? await allQueues(on.client) : [await queueNamed(on.client, name)];
  const costs = costsOf(queues.map(usageOf), Date.now());
  const [first] = costs.queues;
  if (first === undefined && !on.json) {
    on.printer.warn("There are no queues yet, so there is nothing to pay.");
  } else if (first === undefined || name === null) {
    answer(on, costs, { text: textOfAll(costs, on.printer) });
  } else {
    const { queues: _, sum: _sum, ...rest } = costs;
    answer(on, { ...rest, queue: first }, { text: textOfOne(costs, first) });
  }
  return 0;
}

/** @throws CliError for a queue whose broker does not count its use, or whose store cannot be read. */
function usageOf({ name, kind, usage = null }: QueueView) {
  if (usage !== null) return { name, kind, usage };
  throw new CliError(`The use of queue "${name}" is unknown: its broker is older, or its store is damaged.`);
}
