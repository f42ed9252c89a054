import { toBase64 } from "@sluice/aws";
import {
  type BacklogMetrics,
  type ContentType,
  decodeTrace,
  PackedIndex,
  type TraceContext,
} from "@sluice/protocol";

/** A message as pull and peek show it, without its lease id or ref. */
export interface MessageView {
  readonly id: string;
  readonly body: string;
  readonly attempts: number;
  readonly timestamp_ms: number;
  /** Metadata, with the trace context of a message that has one: the SDKs take whatever is there. */
  readonly metadata: { readonly "CF-Content-Type": ContentType } & Partial<TraceContext>;
}

/** Makes the views of packed records, each with its number of attempts. */
export function messageViews(packed: Uint8Array, attempts: readonly number[]): MessageView[] {
  const index = new PackedIndex(packed);
  return attempts.map((attempt, i) => {
    const { id, contentType, body, timestampMs } = index.message(i);
    const hasExtension = index.hasExtension(i) && index.hasReadableExtension(i);
    const trace = hasExtension ? decodeTrace(index.extension(i).trace) : null;
    return {
      id,
      body: bodyView(body, contentType),
      attempts: attempt,
      timestamp_ms: timestampMs,
      metadata: { "CF-Content-Type": contentType, ...trace },
    };
  });
}

/** Makes the API's view of the backlog figures. */
export function metricsView({ backlogCount, backlogBytes, oldestMessageTimestampMs }: BacklogMetrics) {
  return {
    backlog_count: backlogCount,
    backlog_bytes: backlogBytes,
    oldest_message_timestamp_ms: oldestMessageTimestampMs,
  };
}

/** A byte order mark is part of a body of text. */
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Makes the view of a body: text as it is; everything else, JSON included, in base64 (spec cloudflare-queues 5.4). */
function bodyView(body: Uint8Array, contentType: ContentType): string {
  return contentType === "text" ? decoder.decode(body) : toBase64(body);
}
