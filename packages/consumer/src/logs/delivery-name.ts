import { type Delivery, PackedIndex } from "@sluice/protocol";

/** First digits of an id by which people name a message. */
const SHORT_ID_LENGTH = 8;

/**
 * Names a delivery in a terminal: `[orders 5f1c52a0]`, `[orders, 3 messages]`. Of several messages it is unknown which
 * one is being worked on.
 *
 * @param isOfWorker whether other code of the Worker may have printed the line: then the name ends with `?`.
 */
export function deliveryName({ queue, packed }: Pick<Delivery, "queue" | "packed">, isOfWorker: boolean) {
  const messages = new PackedIndex(packed);
  const { count } = messages;
  const which = count === 1 ? ` ${messages.id(0).slice(0, SHORT_ID_LENGTH)}` : `, ${count} messages`;
  return `[${queue}${which}${isOfWorker ? "?" : ""}]`;
}
