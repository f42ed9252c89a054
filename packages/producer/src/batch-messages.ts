import { type ContentType, isObject, serializeBody, TRACE_OPTION, toDelaySeconds } from "@sluice/protocol";
import { batchContentType, toContentTypeName } from "./content-type-names.ts";
import type { OutgoingMessage } from "./outgoing.ts";
import { traceExtension } from "./trace-extension.ts";

/** An item of `sendBatch` with its properties read, not yet checked. */
export interface BatchItem {
  readonly body: unknown;
  readonly contentType: string | undefined;
  readonly delaySeconds: number | undefined;
  /** Extension area with the item's own trace context; `undefined` for none. */
  readonly extension: Uint8Array | undefined;
}

/**
 * Reads the messages of a batch: any iterable, item by item, so a generator may make them while they are read
 * (spec cloudflare-queues 1.1). The properties of an item are read in the binding's order before the next item is asked
 * for; a bad item closes the iterator (`return`).
 *
 * @throws TypeError with the binding's texts, and whatever the iterable or a getter throws.
 */
export function readBatch(messages: unknown): BatchItem[] {
  const items: BatchItem[] = [];
  for (const item of iterate(messages)) items.push(readItem(item));
  return items;
}

/**
 * Turns the bodies of a batch into text and bytes, in order, so that the first bad item decides the error.
 *
 * @param shared extension area of the messages that have none of their own.
 * @throws TypeError for an empty batch and for bad items (spec cloudflare-queues 1.3), else as `serializeBody`.
 */
export function serializeBatch(
  items: readonly BatchItem[],
  defaultType: ContentType,
  shared: Uint8Array | undefined,
): OutgoingMessage[] {
  if (items.length === 0) throw new TypeError("sendBatch() requires at least one message");
  return items.map((item) => {
    if (item.body === undefined) throw new TypeError("Message body cannot be undefined");
    const contentType = batchContentType(item.contentType) ?? defaultType;
    const { body, delaySeconds, extension = shared } = item;
    return { contentType, body: serializeBody(body, contentType), delaySeconds, extension };
  });
}

function iterate(messages: unknown): Iterable<unknown> {
  const method: unknown = isObject(messages) ? Reflect.get(messages, Symbol.iterator) : undefined;
  const iterator: unknown = typeof method === "function" ? method.call(messages) : undefined;
  if (!isObject(iterator)) {
    throw new TypeError(
      "Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'.",
    );
  }
  return { [Symbol.iterator]: () => iterator as Iterator<unknown> };
}

function readItem(item: unknown): BatchItem {
  if (item === undefined || item === null) {
    // The binding shows the mangled name of its own class here.
    throw new TypeError(
      "Cannot initialize N7workerd3api11WorkerQueue18MessageSendRequestE with required members from an " +
        "undefined or null value.",
    );
  }
  if (!isObject(item)) {
    throw new TypeError("Incorrect type: the provided value is not of type 'MessageSendRequest'.");
  }
  const given = item as Partial<Record<keyof BatchItem | typeof TRACE_OPTION, unknown>>;
  return {
    body: given.body,
    contentType: toContentTypeName(given.contentType),
    delaySeconds: toDelaySeconds(given.delaySeconds),
    extension: traceExtension(given[TRACE_OPTION]),
  };
}
