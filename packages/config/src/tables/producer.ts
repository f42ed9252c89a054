import { type Place, placeOf, type Report } from "../file/report.ts";
import type { Table } from "../file/table.ts";
import { checkQueueName, checkRanges, PRODUCER_RANGES } from "./limits.ts";
import { isOptional, isTableOrArray, warnOfUnknownKeys } from "./wrangler-checks.ts";

/** A binding that sends to a queue. */
export interface ProducerConfig {
  /** Name of the binding in `env`. */
  readonly binding: string;
  readonly queue: string;
  /** Delay of a message sent by this binding, in seconds, unless the message or its batch has a delay of its own. */
  readonly deliveryDelaySeconds?: number;
}

/** An element of `queues.producers` that has passed `checkProducer`. */
export interface RawProducer extends Table {
  readonly binding: string;
  readonly queue?: string;
  readonly delivery_delay?: number;
}

const KNOWN_KEYS = ["binding", "queue", "delivery_delay", "remote"];

/** Checks a producer, and reports the errors and warnings of Wrangler in its words (spec cloudflare-queues 3.3). */
export function checkProducer(value: unknown, place: Place, report: Report): value is RawProducer {
  if (!isTableOrArray(value)) {
    report.error(place, `"queue" bindings should be objects, but got ${JSON.stringify(value)}`);
    return false;
  }
  // For a producer with an unknown key Wrangler reports neither further errors nor the deprecation. The keys that a
  // binding needs are still checked: Wrangler would fail later without them.
  const hasUnknownKeys = warnOfUnknownKeys(value, KNOWN_KEYS, place, report);
  let isValid = true;
  const refuse = (key: string, text: string) => {
    report.error(placeOf(place, key), text);
    isValid = false;
  };
  const shown = JSON.stringify(value);
  if (typeof value.binding !== "string") {
    refuse("binding", `"${place.field}" bindings should have a string "binding" field but got ${shown}.`);
  }
  if (!isOptional(value, "queue", "string") || value.queue === "") {
    refuse(
      "queue",
      `"${place.field}" bindings should optionally have a non-empty string "queue" field but got ${shown}.`,
    );
  }
  if (!isOptional(value, "delivery_delay", "number")) {
    refuse(
      "delivery_delay",
      `"${place.field}" should, optionally, have a number "delivery_delay" field but got ${shown}.`,
    );
  }
  if (hasUnknownKeys) return isValid;
  if ("delivery_delay" in value) {
    report.warning(
      placeOf(place, "delivery_delay"),
      `The "delivery_delay" field in "${place.field}" is deprecated and has no effect. Queue-level ` +
        `settings should be configured using "wrangler queues update" instead. This setting will be ` +
        "removed in a future version.",
    );
  }
  if (!isOptional(value, "remote", "boolean")) {
    refuse("remote", `"${place.field}" should, optionally, have a boolean "remote" field but got ${shown}.`);
  }
  return isValid;
}

/**
 * Reads a producer. Without a `queue` key the queue has the binding's name, as in `wrangler dev`; `wrangler deploy`
 * would make a queue `<worker>-<binding>`, the binding in lower case and with `-` for `_` (spec cloudflare-queues 3.1,
 * docs/differences.md). A binding's name need not be a valid queue name, so it is not checked as one.
 *
 * `delivery_delay` is applied, with a warning, since production ignores it.
 */
export function readProducer(raw: RawProducer, place: Place, report: Report): ProducerConfig {
  if (raw.queue !== undefined) checkQueueName(raw.queue, placeOf(place, "queue"), report);
  const isInRange = checkRanges(raw, place, PRODUCER_RANGES, report);
  const queue = raw.queue ?? raw.binding;
  if (raw.delivery_delay === undefined) return { binding: raw.binding, queue };
  if (isInRange) {
    report.warning(
      placeOf(place, "delivery_delay"),
      `Sluice applies it: what is sent through "${raw.binding}" without a delay of its own waits ` +
        `${raw.delivery_delay} s. A delay of the queue itself is set with "delivery_delay" in its ` +
        "[sluice.queues] table.",
    );
  }
  return { binding: raw.binding, queue, deliveryDelaySeconds: raw.delivery_delay };
}
