import type { Scenario } from "../scenario/scenario.ts";
import { ATTEMPTS } from "./attempts.ts";
import { BATCHES } from "./batches.ts";
import { CONTENT_TYPES } from "./content-types.ts";
import { SEND_DELAYS } from "./delays.ts";
import { DELIVERY } from "./delivery.ts";
import { DURABILITY } from "./durability.ts";
import { OUTCOMES } from "./outcomes.ts";
import { PRODUCER_METHODS } from "./producer-methods.ts";

/** Scenarios of each section of the sheet, with their file. */
export const SCENARIO_SECTIONS: readonly (readonly [
  title: string,
  file: string,
  scenarios: readonly Scenario[],
])[] = [
  ["Sending", "producer-methods.ts", PRODUCER_METHODS],
  ["Content types", "content-types.ts", CONTENT_TYPES],
  ["Delays", "delays.ts", SEND_DELAYS],
  ["What handlers are given, and how they end", "outcomes.ts", OUTCOMES],
  ["Attempts and identity", "attempts.ts", ATTEMPTS],
  ["Batches and defaults", "batches.ts", BATCHES],
  ["Durability", "durability.ts", DURABILITY],
  ["Delivery", "delivery.ts", DELIVERY],
];

export const SCENARIOS: readonly Scenario[] = SCENARIO_SECTIONS.flatMap(([, , scenarios]) => scenarios);
