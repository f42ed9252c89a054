import { type ContentType, type Delivery, encodeBody, packMessages } from "@sluice/protocol";

/** A delivery of the bodies given, as json unless told otherwise, with ids ending in 1, 2 and so on. */
export function deliveryOf(
  bodies: readonly unknown[],
  { contentType = "json", ...rest }: Partial<Delivery> & { readonly contentType?: ContentType } = {},
): Delivery {
  const packed = packMessages(
    bodies.map((body, i) => ({
      id: idOf(i + 1),
      contentType,
      body: encodeBody(body, contentType),
      timestampMs: 1_700_000_000_000,
    })),
  );
  const metrics = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };
  return { id: `1 ${idOf(1)}`, queue: "orders", packed, attempts: 1, metrics, ...rest };
}

/** Id of message number n. */
export function idOf(n: number): string {
  return String(n).padStart(32, "0");
}
