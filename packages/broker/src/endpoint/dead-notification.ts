import { changeRecord, type PackedIndex, type QueueDefinition } from "@sluice/protocol";
import { canBeDeadLetter, deadLetterAttributes } from "@sluice/sns";

/** Whether a queue leads to the endpoint of a subscription. */
export function isForNotifications(definition: QueueDefinition | undefined): boolean {
  return definition?.consumer?.type === "http_push" && definition.consumer.settings.format === "sns";
}

/**
 * A message as it goes to the dead-letter queue: a new one, whose time begins anew, with the body that the endpoint would
 * have got. `null` for a confirmation, which goes to none.
 */
export function deadNotification(
  payload: PackedIndex,
  i: number,
  newId: () => string,
): Uint8Array<ArrayBuffer> | null {
  const { attributes: known, ...extension } = payload.hasExtension(i) ? payload.extension(i) : {};
  if (!canBeDeadLetter(known)) return null;
  const attributes = deadLetterAttributes(known);
  return changeRecord(payload, i, {
    id: newId(),
    timestampMs: 0,
    earlierReceives: 0,
    extension: attributes === undefined ? extension : { ...extension, attributes },
  });
}
