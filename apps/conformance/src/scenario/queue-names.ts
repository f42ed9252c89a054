import type { QueueSpec, Scenario } from "./scenario.ts";

/** The queue's name that every configuration uses. */
export function queueName(scenario: Pick<Scenario, "id">, key: string, spec: QueueSpec): string {
  return spec.name ?? (key === "q" ? scenario.id : `${scenario.id}-${key}`);
}

/** The name of a queue's binding in `env`. */
export function bindingName(queue: string): string {
  return queue.replaceAll("-", "_").toUpperCase();
}
