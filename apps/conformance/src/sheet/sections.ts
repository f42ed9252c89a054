import { CONFIGURATIONS } from "../configurations/configurations.ts";
import { CONFIGURATION_REFERENCES } from "../references/configuration.ts";
import { CONSUMER_REFERENCES } from "../references/consumer.ts";
import { CONTROL_PLANE_REFERENCES } from "../references/control-plane.ts";
import { DELIVERY_REFERENCES } from "../references/delivery.ts";
import { PRODUCER_REFERENCES } from "../references/producer.ts";
import { PULL_REFERENCES } from "../references/pull.ts";
import type { Row } from "../scenario/row.ts";
import { ATTEMPTS } from "../scenarios/attempts.ts";
import { BATCHES } from "../scenarios/batches.ts";
import { CONSUMER_OBJECTS } from "../scenarios/consumer-objects.ts";
import { CONTENT_TYPES } from "../scenarios/content-types.ts";
import { SEND_DELAYS } from "../scenarios/delays.ts";
import { DELIVERY } from "../scenarios/delivery.ts";
import { DURABILITY } from "../scenarios/durability.ts";
import { LIMITS } from "../scenarios/limits.ts";
import { LONG_TIMES } from "../scenarios/long-times.ts";
import { OUTCOMES } from "../scenarios/outcomes.ts";
import { PRODUCER_METHODS } from "../scenarios/producer-methods.ts";
import { RETRY_DELAYS } from "../scenarios/retry-delays.ts";
import { SETTLEMENT } from "../scenarios/settlement.ts";
import { VALIDATION } from "../scenarios/validation.ts";
import { SETTLEMENT_WARNINGS } from "../scenarios/warnings.ts";

/** A table of the sheet. */
export interface Section {
  readonly title: string;
  /** What to know before reading the table. */
  readonly note?: string;
  /** File of its scenarios and configurations, from `apps/conformance/src`. */
  readonly file: string;
  readonly rows: readonly Row[];
}

export const SECTIONS: readonly Section[] = [
  {
    title: "Sending",
    file: "scenarios/producer-methods.ts",
    rows: [...PRODUCER_METHODS, ...PRODUCER_REFERENCES],
  },
  { title: "Content types", file: "scenarios/content-types.ts", rows: CONTENT_TYPES },
  { title: "Calls that the runtime refuses", file: "scenarios/validation.ts", rows: VALIDATION },
  { title: "Delays of messages", file: "scenarios/delays.ts", rows: SEND_DELAYS },
  { title: "Limits and errors of sends", file: "scenarios/limits.ts", rows: LIMITS },
  {
    title: "What a handler is given",
    file: "scenarios/consumer-objects.ts",
    rows: CONSUMER_OBJECTS,
  },
  {
    title: "Acknowledging and retrying",
    note: "A batch of two messages, m1 and m2. Numbers are delays in seconds; the consumer's `retry_delay` is 4.",
    file: "scenarios/settlement.ts",
    rows: SETTLEMENT,
  },
  { title: "Calls without effect", file: "scenarios/warnings.ts", rows: SETTLEMENT_WARNINGS },
  { title: "How handlers end", file: "scenarios/outcomes.ts", rows: [...OUTCOMES, ...CONSUMER_REFERENCES] },
  { title: "Attempts and identity", file: "scenarios/attempts.ts", rows: ATTEMPTS },
  { title: "Delays of retries", file: "scenarios/retry-delays.ts", rows: RETRY_DELAYS },
  { title: "Batches and defaults", file: "scenarios/batches.ts", rows: BATCHES },
  {
    title: "Configuration",
    note: "Production refuses these when they are deployed. Wrangler leaves ranges and names to it.",
    file: "configurations/configurations.ts",
    rows: [...CONFIGURATIONS, ...CONFIGURATION_REFERENCES],
  },
  { title: "Durability", file: "scenarios/durability.ts", rows: DURABILITY },
  {
    title: "Long times",
    note: "Sluice's clock is moved. The figures are those after 23, 25, 95 and 97 hours.",
    file: "scenarios/long-times.ts",
    rows: LONG_TIMES,
  },
  { title: "Delivery", file: "scenarios/delivery.ts", rows: [...DELIVERY, ...DELIVERY_REFERENCES] },
  { title: "Pushing and pulling over HTTP", file: "references/pull.ts", rows: PULL_REFERENCES },
  {
    title: "REST API and `wrangler queues`",
    file: "references/control-plane.ts",
    rows: CONTROL_PLANE_REFERENCES,
  },
];

/** Every row of the sheet. Throws when two have the same id. */
export function allRows(): readonly Row[] {
  const rows = SECTIONS.flatMap((section) => section.rows);
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new Error(`two rows are called ${id}`);
    ids.add(id);
  }
  return rows;
}
