import { type Place, placeOf, type Report } from "../file/report.ts";
import { isTable } from "../file/table.ts";
import { checkConsumer, type RawConsumer } from "./consumer.ts";
import { checkProducer, type RawProducer } from "./producer.ts";
import { warnOfUnknownKeys } from "./wrangler-checks.ts";

/** An element that has passed its check, with its place. */
export interface Placed<T> {
  readonly value: T;
  readonly place: Place;
}

/** A `queues` table without the elements that Wrangler refuses. */
export interface CheckedQueues {
  readonly producers: readonly Placed<RawProducer>[];
  readonly consumers: readonly Placed<RawConsumer>[];
}

const NONE: CheckedQueues = { producers: [], consumers: [] };

/**
 * Checks a `queues` table, and reports the errors and warnings of Wrangler in its words (spec cloudflare-queues 3.3).
 * An absent table has no queues.
 */
export function checkQueues(value: unknown, place: Place, report: Report): CheckedQueues {
  if (value === undefined) return NONE;
  if (!isTable(value)) {
    report.fieldError(place, `should be an object but got ${JSON.stringify(value)}.`);
    return NONE;
  }
  warnOfUnknownKeys(value, ["consumers", "producers"], place, report);
  return {
    consumers: checkElements(value.consumers, placeOf(place, "consumers"), report, checkConsumer),
    producers: checkElements(value.producers, placeOf(place, "producers"), report, checkProducer),
  };
}

function checkElements<T>(
  value: unknown,
  place: Place,
  report: Report,
  check: (element: unknown, place: Place, report: Report) => element is T,
): Placed<T>[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report.fieldError(place, `should be an array but got ${JSON.stringify(value)}.`);
    return [];
  }
  const checked: Placed<T>[] = [];
  for (const [i, element] of value.entries()) {
    const elementPlace = placeOf(place, i);
    if (check(element, elementPlace, report)) checked.push({ value: element, place: elementPlace });
  }
  return checked;
}

/** Reports bindings that two producers of one Worker share, as Wrangler does. */
export function checkBindingsAreUnique(producers: CheckedQueues["producers"], report: Report): void {
  const seen = new Set<string>();
  const duplicates = new Map<string, Place>();
  for (const { value, place } of producers) {
    if (seen.has(value.binding)) duplicates.set(value.binding, placeOf(place, "binding"));
    seen.add(value.binding);
  }
  for (const [binding, place] of duplicates) {
    report.error(place, `${binding} assigned to multiple Queue bindings.`);
    report.error(
      place,
      "Bindings must have unique names, so that they can all be referenced in the worker.\nPlease " +
        "change your bindings to have unique names.",
    );
  }
}
