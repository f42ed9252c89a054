import type { NewSubscription } from "@sluice/protocol";
import * as z from "zod/mini";
import { API_CODES, ApiError, invalid } from "../api-error.ts";
import { SOURCE_KINDS } from "./subscription-sources.ts";

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
 * The source of a subscription with the fields that its type has.
 *
 * @throws ApiError for an unknown type, or one of its fields that is missing.
 */
export function sourceOf({
  type,
  ...rest
}: z.infer<typeof newSubscriptionBody>["source"]): NewSubscription["source"] {
  const kind = Object.hasOwn(SOURCE_KINDS, type) ? SOURCE_KINDS[type] : undefined;
  if (kind === undefined) {
    throw invalid(`Unknown event source "${type}". There are: ${Object.keys(SOURCE_KINDS).join(", ")}.`);
  }
  const fields = kind.fields.map((field): [string, string] => {
    const value = rest[field];
    if (typeof value === "string" && value !== "") return [field, value];
    throw invalid(`The event source "${type}" needs a "${field}".`);
  });
  return { type, ...Object.fromEntries(fields) };
}

/** Throws ApiError for an event that sources of this type do not have. */
export function checkEvents(sourceType: string, names: readonly string[]): void {
  const known = SOURCE_KINDS[sourceType]?.events ?? null;
  const unknown = known === null ? [] : names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new ApiError(
    400,
    API_CODES.none,
    `Unrecognized event types for source "${sourceType}": ${unknown.join(", ")}. There are: ${known?.join(", ")}.`,
  );
}
