import type { NewSubscription } from "@sluice/protocol";
import * as z from "zod/mini";
import { eventsProblem, readSource } from "../../account/subscription-sources.ts";
import { API_CODES, ApiError, invalid } from "../api-error.ts";

const destination = z.object({ type: z.literal("queues.queue"), queue_id: z.string() });
const events = z.array(z.string().check(z.minLength(1))).check(z.minLength(1, "Must name an event"));

export const newSubscriptionBody = z.object({
  name: z.optional(z.string().check(z.minLength(1))),
  enabled: z.optional(z.boolean()),
  source: z.looseObject({ type: z.string() }),
  destination,
  events,
});
export const subscriptionChangeBody = z.object({
  name: z.optional(z.string().check(z.minLength(1))),
  enabled: z.optional(z.boolean()),
  destination: z.optional(destination),
  events: z.optional(events),
});

/**
 * Reads the source of a subscription, with the fields of its type.
 *
 * @throws ApiError for an unknown type, or a missing field of it.
 */
export function sourceOf(given: z.infer<typeof newSubscriptionBody>["source"]): NewSubscription["source"] {
  const { source, problem } = readSource(given);
  if (source === null) throw invalid(problem);
  return source;
}

/** Throws ApiError for an event that sources of this type do not have. */
export function checkEvents(sourceType: string, names: readonly string[]): void {
  const problem = eventsProblem(sourceType, names);
  if (problem !== null) throw new ApiError(400, API_CODES.none, problem);
}
