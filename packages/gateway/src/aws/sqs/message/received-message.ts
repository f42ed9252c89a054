import {
  type AttributeValue,
  attributesMd5,
  decodeAttributes,
  md5Hex,
  printable,
  toBase64,
} from "@sluice/aws";
import {
  decodeBody,
  type PackedIndex,
  type ReceivedMessages,
  receivedMessage,
  traceParentIn,
} from "@sluice/protocol";
import { mayUse } from "../../../rights/rights.ts";
import { addressOf, arnOf } from "../../queue-address.ts";
import { xrayOf } from "../../trace-context.ts";
import type { SqsContext } from "../context.ts";
import type { SqsOutput } from "../model.ts";

const decoder = new TextDecoder();

type Message = NonNullable<SqsOutput<"ReceiveMessage">["Messages"]>[number];

/** Parts of a message that a receive asks for. */
export interface Wanted {
  readonly systemAttributes: readonly string[];
  readonly messageAttributes: readonly string[];
  /** Whether the body has to be one that XML can hold. */
  readonly isPrintable: boolean;
}

/**
 * Makes message i of a receive in SQS's form (spec sqs 5.5). The name of a dead-letter source that the receiver may not
 * use is left out.
 */
export function shownMessage(
  index: PackedIndex,
  i: number,
  received: ReceivedMessages,
  wanted: Wanted,
  { settings: { home }, caller }: Pick<SqsContext, "settings" | "caller">,
): Message {
  // A Worker can send any text; the digest is that of the text that the client gets.
  const body = wanted.isPrintable ? printable(textOf(index, i)) : textOf(index, i);
  const message = {
    MessageId: index.uuid(i),
    ReceiptHandle: received.receipts[i] as string, // one of those that were received
    MD5OfBody: md5Hex(body),
    Body: body,
  };
  const asked = wanted.systemAttributes;
  // Most messages have only a body, and most clients ask for nothing else.
  if (asked.length === 0 && (wanted.messageAttributes.length === 0 || !index.hasExtension(i))) return message;
  const extension = index.extension(i);
  const { attributes, traceHeader } = decodeAttributes(extension.attributes);
  const shown = selectMessageAttributes(attributes, wanted.messageAttributes);
  const system = asked.length === 0 ? {} : systemAttributesOf();
  return {
    ...message,
    ...(isEmpty(system) ? {} : { Attributes: system }),
    ...(isEmpty(shown) ? {} : { MD5OfMessageAttributes: attributesMd5(shown), MessageAttributes: shown }),
  };

  function systemAttributesOf(): Record<string, string> {
    const { receiveCount, firstReceivedMs, sequenceNumber } = receivedMessage(received, i);
    const trace = traceParentIn(extension.trace);
    const source = extension.deadLetterSource ?? extension.deadLetterOf;
    const all = {
      SenderId: home.account,
      SentTimestamp: String(index.timestampMs(i)),
      ApproximateReceiveCount: String(receiveCount),
      ApproximateFirstReceiveTimestamp: String(firstReceivedMs),
      SequenceNumber: sequenceNumber ?? undefined,
      MessageDeduplicationId: sequenceNumber === null ? undefined : extension.deduplicationId,
      MessageGroupId: extension.groupId,
      AWSTraceHeader: traceHeader ?? (trace === null ? undefined : xrayOf(trace)),
      DeadLetterQueueSourceArn:
        source === undefined || !mayUse(caller.rights, source) ? undefined : arnOf(addressOf(source, home)),
    };
    const isAsked = (name: string) => asked.includes("All") || asked.includes(name);
    const present = Object.entries(all).filter(([name, value]) => value !== undefined && isAsked(name));
    return Object.fromEntries(present) as Record<string, string>;
  }
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** Selects attributes by name: `All`, `.*` and `*` select all, `Prefix.*` those that begin so (spec sqs 5.5). */
export function selectMessageAttributes(
  attributes: Readonly<Record<string, AttributeValue>>,
  names: readonly string[],
): Record<string, AttributeValue> {
  if (names.length === 0) return {};
  const isAsked = (name: string) =>
    names.some((wanted) => {
      if (wanted === "All" || wanted === ".*" || wanted === "*" || wanted === name) return true;
      return wanted.endsWith(".*") && name.startsWith(wanted.slice(0, -2));
    });
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isAsked(name)));
}

/** Makes a body a text. A `json` body of a Worker is its JSON; `bytes` and `v8` bodies are base64. */
function textOf(index: PackedIndex, i: number): string {
  const body = index.body(i);
  switch (index.contentType(i)) {
    case "text":
      return String(decodeBody(body, "text"));
    case "json":
      return decoder.decode(body);
    case "bytes":
    case "v8":
      return toBase64(body);
    case undefined:
      throw new Error("a message that no consumer can read was received");
  }
}
