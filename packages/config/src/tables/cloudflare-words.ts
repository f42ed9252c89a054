import { isTable, type Table } from "../file/table.ts";

/** A `cloudflare.config.ts` as Wrangler has converted it to keys of its own configurations. */
export interface ConvertedConfig {
  readonly root: Table;
  /** Places of the consumers in `worker.triggers`, in the order of `queues.consumers`. */
  readonly consumerTriggers: readonly number[];
}

/** Wrangler's keys with another name in a `cloudflare.config.ts`. The others are in camel case there. */
const RENAMED: Readonly<Record<string, string>> = { queue: "name" };

/**
 * Rewrites Wrangler's keys of consumers and producers in a text to those of a `cloudflare.config.ts`:
 * `queues.consumers[0].max_retries` to `worker.triggers[1].maxRetries`, `queues.producers[0].queue` to
 * `worker.env.ORDERS.name`.
 */
export function inWordsOfCloudflareConfig(text: string, { root, consumerTriggers }: ConvertedConfig): string {
  const { producers } = isTable(root.queues) ? root.queues : {};
  const bindings = Array.isArray(producers) ? producers.map((producer) => String(producer.binding)) : [];
  return text
    .replace(/\bqueues\.consumers\[(\d+)\](?:\.(\w+))?/g, (_, i, key) =>
      joined(`worker.triggers[${consumerTriggers[Number(i)]}]`, key),
    )
    .replace(/\bqueues\.producers\[(\d+)\](?:\.(\w+))?/g, (_, i, key) =>
      joined(`worker.env.${bindings[Number(i)]}`, key),
    );
}

function joined(place: string, key: string | undefined): string {
  if (key === undefined) return place;
  return `${place}.${RENAMED[key] ?? key.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}`;
}
