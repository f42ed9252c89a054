import type { LeasedMessage } from "@sluice/gateway/views";

/** Makes a message that `sluice eject` has leased: a text of one letter, with these changes. */
export function leasedMessage(changes: object): LeasedMessage {
  return {
    id: "0".repeat(32),
    receipt: "r",
    sentAt: "2026-11-27T00:00:00.000Z",
    attempts: 0,
    delaySeconds: 0,
    contentType: "text",
    text: "x",
    ...changes,
  };
}
