import type { Jurisdiction, NewQueue, QueueDefinition, QueueRecord } from "@sluice/protocol";
import type { Registry } from "./registry.ts";

/** Makes the record of a new queue, with an id of its own. */
export function newRecord(
  registry: Registry,
  name: string,
  definition: QueueDefinition,
  rest: Pick<NewQueue, "jurisdiction" | "dialects"> = {},
): QueueRecord {
  const { nowMs } = registry;
  const before = registry.row(name);
  const { jurisdiction = null } = rest;
  const place = placeFor(registry, jurisdiction);
  return {
    queueId: registry.newId(),
    name,
    createdOnMs: nowMs,
    modifiedOnMs: nowMs,
    revision: registry.nextRevision(),
    emptyAsOf: before?.kind === "deleted" ? before.revision : 0,
    definition,
    consumer: definition.consumer === null ? null : { consumerId: registry.newId(), createdOnMs: nowMs },
    jurisdiction,
    ...(place === undefined ? {} : { place }),
    dialects: rest.dialects ?? {},
  };
}

/** Returns the jurisdiction that a new queue's object is made in; `undefined` if it may be anywhere. */
export function placeFor(registry: Registry, jurisdiction: Jurisdiction | null): Jurisdiction | undefined {
  return jurisdiction !== null && registry.hasJurisdictions ? jurisdiction : undefined;
}
