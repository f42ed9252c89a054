import {
  type ContentType,
  type Delivery,
  type DeliveryResult,
  LOG_LINE_UNITS_MAX,
  NO_CALLS,
  type NotificationSettings,
  notifiedText,
  PackedIndex,
} from "@sluice/protocol";
import type { ConsumerPort } from "./delivery-result.ts";

/** Text in the place of a body that is no text. */
const BINARY = "(binary data, which a notification does not show)";

/**
 * Consumer that shows each message as the notification that production would send. The text counts as printed by the
 * delivery, so it is in the message's story. Nothing leaves the machine.
 */
export class NotificationConsumer implements ConsumerPort {
  readonly name = "notification";
  readonly #settings: NotificationSettings;

  constructor(settings: NotificationSettings) {
    this.#settings = settings;
  }

  async deliver({ packed, logs = false }: Delivery): Promise<DeliveryResult> {
    const { contentType, body } = new PackedIndex(packed).message(0);
    const to = `Notification to ${notifiedText(this.#settings)}`;
    const text = `${to}: ${shownBody(contentType, body)}`.slice(0, LOG_LINE_UNITS_MAX);
    const line = { afterMs: 0, level: "info", text } as const;
    return { outcome: "ok", ...NO_CALLS, ...(logs ? { logs: { lines: [line] } } : {}) };
  }

  /** Always rejects, since a delivery has its result at once. */
  callsOf(): Promise<never> {
    return Promise.reject(new Error("no notification is under way"));
  }

  async ping(): Promise<void> {}
}

/** Returns the text of a body as a notification shows it: JSON as it was written. */
function shownBody(contentType: ContentType, body: Uint8Array): string {
  return contentType === "text" || contentType === "json" ? new TextDecoder().decode(body) : BINARY;
}
