import type { Scenario } from "../scenario/scenario.ts";
import { ATTEMPTS } from "./attempts.ts";
import { BATCHES } from "./batches.ts";
import { CONSUMER_OBJECTS } from "./consumer-objects.ts";
import { CONTENT_TYPES } from "./content-types.ts";
import { SEND_DELAYS } from "./delays.ts";
import { DELIVERY } from "./delivery.ts";
import { DURABILITY } from "./durability.ts";
import { LIMITS } from "./limits.ts";
import { LONG_TIMES } from "./long-times.ts";
import { OUTCOMES } from "./outcomes.ts";
import { PRODUCER_METHODS } from "./producer-methods.ts";
import { RETRY_DELAYS } from "./retry-delays.ts";
import { SETTLEMENT } from "./settlement.ts";
import { VALIDATION } from "./validation.ts";
import { SETTLEMENT_WARNINGS } from "./warnings.ts";

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [
  ...PRODUCER_METHODS,
  ...CONTENT_TYPES,
  ...VALIDATION,
  ...SEND_DELAYS,
  ...RETRY_DELAYS,
  ...LIMITS,
  ...CONSUMER_OBJECTS,
  ...SETTLEMENT_WARNINGS,
  ...SETTLEMENT,
  ...OUTCOMES,
  ...ATTEMPTS,
  ...BATCHES,
  ...DELIVERY,
  ...DURABILITY,
  ...LONG_TIMES,
];
