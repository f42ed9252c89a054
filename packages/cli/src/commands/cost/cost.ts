import type { QueueView } from "@sluice/gateway/views";
import { type Costs, costsOf } from "@sluice/prices";
import { CliError } from "@sluice/project/errors";
import { allQueues, queueNamed } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { textOfAll, textOfOne } from "./text.ts";

/** `sluice cost`: prints the costs of one queue, or of all. */
export async function showCost(on: OnBroker, name: string | null): Promise<number> {
  const queues = name === null ? await allQueues(on.client) : [await queueNamed(on.client, name)];
  const costs = costsOf(queues.map(countedBy), Date.now());
  const [only] = costs.queues;
  if (!on.json && only === undefined) {
    on.printer.warn("There are no queues yet, so there is nothing to pay.");
    return 0;
  }
  answer(on, name === null ? costs : onlyOne(costs), {
    text: name === null || only === undefined ? textOfAll(costs, on.printer) : textOfOne(costs, only),
  });
  return 0;
}

/** @throws CliError for a queue of a broker that counts nothing, or whose store cannot be read. */
function countedBy({ name, kind, usage = null }: QueueView) {
  if (usage !== null) return { name, kind, usage };
  throw new CliError(`The use of queue "${name}" is unknown: its broker is older, or its store is damaged.`);
}

function onlyOne({ queues, sum: _, ...rest }: Costs) {
  return { ...rest, queue: queues[0] };
}
