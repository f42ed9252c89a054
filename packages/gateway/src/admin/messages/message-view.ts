import { decodeAttributes, toBase64 } from "@sluice/aws";
import {
  type ContentType,
  type FinishedKind,
  type LookedAt,
  type MessageEnd,
  type MessageState,
  valueText,
  type Why,
  type WhyReason,
} from "@sluice/protocol";
import { timeOf } from "../time.ts";
import { type TraceView, traceView } from "../trace-view.ts";

/** Characters of a body that are shown of a message among others. */
export const BODY_CHARACTERS_MAX = 2_000;

/** A message as the admin API shows it. */
export interface MessageView {
  readonly id: string;
  /** Names the message in paths as its id does, and is found without a search. */
  readonly ref: string;
  readonly state: MessageState;
  readonly why: WhyView;
  readonly sentAt: string;
  /** When it is or was due; `null` while it is leased, and of a finished one. */
  readonly dueAt: string | null;
  /** When its lease ends; `null` while it waits, and of a finished one. */
  readonly leasedUntil: string | null;
  /** When its retention ends; `null` of a finished one, which is kept until enough others are. */
  readonly keptUntil: string | null;
  /** Deliveries so far, the running one included. */
  readonly attempts: number;
  /** Deliveries in the last queue that gave it up. Absent where none is known. */
  readonly attemptsBefore?: number;
  readonly contentType: ContentType;
  readonly bytes: number;
  /** The body, in a list its first `BODY_CHARACTERS_MAX` characters; `null` for bytes that are no text. */
  readonly text: string | null;
  /** Whether the body is longer than `text`. */
  readonly truncated: boolean;
  readonly group: string | null;
  /** Attributes of SQS and SNS by name. */
  readonly attributes: Readonly<Record<string, AttributeView>>;
  /** The queue that it was dead-lettered from. */
  readonly from: string | null;
  /** First line of the error of its last failed delivery; `null` where none is known. */
  readonly lastError?: string | null;
  /** Its end, if it is finished. */
  readonly end?: MessageEndView;
  /** Absent for a message without a trace context. */
  readonly trace?: TraceView;
}

/** End of a message whose body is kept. */
export interface MessageEndView {
  readonly kind: FinishedKind;
  readonly at: string;
  /** Worker, endpoint or client that handled it; `null` for none. */
  readonly by: string | null;
  /** Why it was given up; `null` where it was not. */
  readonly error: string | null;
}

/** A message with all of its body. */
export interface WholeMessageView extends MessageView {
  /** The body if it is no text; else `null`. */
  readonly base64: string | null;
  /** Value of a body of type `v8`, laid out for people. Only of a message by itself; absent for other bodies. */
  readonly value?: string;
}

export interface AttributeView {
  /** `String`, `Number` or `Binary`, with a label of the sender's behind a dot. */
  readonly type: string;
  /** Bytes are in base64. */
  readonly value: string;
}

/** Why a message, or a queue, is not delivered. */
export interface WhyView {
  readonly reason: WhyReason;
  /** One sentence. */
  readonly text: string;
  readonly until: string | null;
  readonly by: string | null;
}

export interface QueueWhyView extends WhyView {
  /** Other reasons why the queue does not deliver. */
  readonly also: readonly WhyView[];
  /** Messages at the moment of the reason; absent where nothing can be read. */
  readonly messages?: { readonly ready: number; readonly delayed: number; readonly leased: number };
}

export function whyView({ reason, text, untilMs, by }: Why): WhyView {
  return { reason, text, until: untilMs === null ? null : timeOf(untilMs), by };
}

export function messageView(message: LookedAt): MessageView {
  const text = textOf(message);
  const shown = text?.slice(0, BODY_CHARACTERS_MAX) ?? null;
  const isMore =
    text !== null && (text.length > BODY_CHARACTERS_MAX || message.body.byteLength < message.bodyBytes);
  return { ...factsOf(message), text: shown, truncated: isMore };
}

/**
 * Shows a message by itself.
 *
 * @param traceUrl URL of a page that shows a trace.
 */
export function singleMessageView(message: LookedAt, traceUrl: string | null = null): WholeMessageView {
  const value = message.contentType === "v8" ? valueText(message.body) : null;
  return { ...wholeMessageView(message, traceUrl), ...(value === null ? {} : { value }) };
}

/** @param traceUrl URL of a page that shows a trace. */
export function wholeMessageView(message: LookedAt, traceUrl: string | null = null): WholeMessageView {
  const text = textOf(message);
  const base64 = text === null ? toBase64(message.body) : null;
  return { ...factsOf(message, traceUrl), text, truncated: false, base64 };
}

function factsOf(message: LookedAt, traceUrl: string | null = null): Omit<MessageView, "text" | "truncated"> {
  const { id, ref, state, why, sentMs, atMs, keptUntilMs, attempts, contentType, bodyBytes, group, from } =
    message;
  const { end } = message;
  const trace = traceView(message.trace, traceUrl);
  const isLeased = state === "leased";
  return {
    id,
    ref,
    state,
    why: whyView(why),
    sentAt: timeOf(sentMs),
    dueAt: isLeased || end !== undefined ? null : timeOf(atMs),
    leasedUntil: isLeased ? timeOf(atMs) : null,
    keptUntil: end === undefined ? timeOf(keptUntilMs) : null,
    attempts,
    ...(message.attemptsBefore === undefined ? {} : { attemptsBefore: message.attemptsBefore }),
    contentType,
    bytes: bodyBytes,
    group,
    attributes: attributesOf(message.attributes),
    from,
    lastError: message.lastError ?? null,
    ...(end === undefined ? {} : { end: messageEndView(end) }),
    ...(trace === null ? {} : { trace }),
  };
}

function messageEndView({ kind, atMs, by, error }: MessageEnd): MessageEndView {
  return { kind, at: timeOf(atMs), by, error };
}

/** Decodes the attributes of a message, by name. */
export function attributesOf(stored: Uint8Array | null): Record<string, AttributeView> {
  if (stored === null) return {};
  return Object.fromEntries(
    Object.entries(decodeAttributes(stored).attributes).map(
      ([name, { DataType = "String", StringValue, BinaryValue }]) => {
        const value = StringValue ?? toBase64(BinaryValue ?? new Uint8Array());
        return [name, { type: DataType, value }];
      },
    ),
  );
}

/** Shows a whole body: as text, or in base64 where it is none. */
export function textOrBase64(message: Pick<LookedAt, "contentType" | "body">) {
  const text = textOf({ ...message, bodyBytes: message.body.byteLength });
  return text === null ? { base64: toBase64(message.body) } : { text };
}

/** Decodes a body, or its beginning, which may end within a character; `null` where it is no text. */
function textOf({
  contentType,
  body,
  bodyBytes,
}: Pick<LookedAt, "contentType" | "body" | "bodyBytes">): string | null {
  if (contentType === "v8") return null;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(body, { stream: body.byteLength < bodyBytes });
  } catch {
    return null;
  }
}
