import { type ContentType, type PeekedBatch, unpackMessages } from "@sluice/protocol";
import { timeOf } from "./time.ts";

/** Characters of a body that are shown. */
export const BODY_CHARACTERS_MAX = 2_000;

/** A message that waits, as the admin API shows it. */
export interface MessageView {
  readonly id: string;
  readonly sentAt: string;
  readonly contentType: ContentType;
  /** Deliveries so far. */
  readonly attempts: number;
  readonly bytes: number;
  /** The beginning of its body, `BODY_CHARACTERS_MAX` at most; `null` for what is no text. */
  readonly text: string | null;
  /** Whether there is more of it than `text`. */
  readonly truncated: boolean;
}

export function messageViews({ packed, attempts }: PeekedBatch): MessageView[] {
  return unpackMessages(packed).map(({ id, timestampMs, contentType, body }, i) => {
    const text = contentType === "v8" ? null : textOf(body);
    return {
      id,
      sentAt: timeOf(timestampMs),
      contentType,
      attempts: attempts[i] ?? 0,
      bytes: body.byteLength,
      text: text?.slice(0, BODY_CHARACTERS_MAX) ?? null,
      truncated: text !== null && text.length > BODY_CHARACTERS_MAX,
    };
  });
}

function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}
