import { AwsError, attributesMd5, COMMON_ERRORS, md5Hex, uuidOf } from "@sluice/aws";
import {
  type EnqueuedMessage,
  type EnqueueReply,
  QUEUE_ERROR_CODES,
  QueueError,
  type RpcFailure,
} from "@sluice/protocol";
import type { SqsContext } from "../context.ts";
import { refuse, SQS_ERRORS } from "../errors.ts";
import type { KnownQueue, LookedUpQueue } from "../known-queues.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { OutdatedQueueError, onQueue } from "../on-queue.ts";
import { BATCH_BYTES_MAX, BatchOutcome, checkEntries } from "./batch.ts";
import {
  checkFifo,
  checkMessage,
  type MessageInput,
  messageBytes,
  messageBytesAtMost,
  type RecordOfMessage,
  recordOf,
  type SendRules,
} from "./outgoing.ts";
import { holdsValidTexts } from "./text.ts";

export function sendMessage(
  context: SqsContext,
  input: SqsInput<"SendMessage">,
): Promise<SqsOutput<"SendMessage">> {
  return onQueue(context, input.QueueUrl, async (queue) => {
    const rules = { ...queue, isBatch: false, hasValidTexts: hasValidTexts(context) };
    checkBy(queue, () => {
      // A missing body is reported before a missing group.
      if (!input.MessageBody) checkMessage(input, rules);
      checkFifo(input, rules);
      checkMessage(input, rules);
    });
    const records = recordsOf(context, [input], rules);
    const { revision } = queue;
    const reply = await context.calls.enqueue(queue.name, { records, revision }, context.keepAlive);
    const [sent] = sentMessagesOf(queue, reply, records);
    if (sent === undefined) throw new Error("the queue answered a send with no message");
    return resultOf(input, sent);
  });
}

export function sendMessageBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"SendMessageBatch">,
): Promise<SqsOutput<"SendMessageBatch">> {
  return onQueue(context, QueueUrl, (queue) => sendEntries(context, queue, Entries));
}

async function sendEntries(
  context: SqsContext,
  queue: LookedUpQueue,
  Entries: SqsInput<"SendMessageBatch">["Entries"],
): Promise<SqsOutput<"SendMessageBatch">> {
  const rules = { ...queue, isBatch: true, hasValidTexts: hasValidTexts(context) };
  const entries = checkEntries(Entries, "SendMessageBatchRequestEntry");
  const bytesAtMost = entries.reduce((sum, entry) => sum + messageBytesAtMost(entry), 0);
  const bytes =
    bytesAtMost <= BATCH_BYTES_MAX ? 0 : entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  if (bytes > BATCH_BYTES_MAX) {
    throw refuse(
      SQS_ERRORS.batchRequestTooLong,
      `Batch requests cannot be longer than ${BATCH_BYTES_MAX} bytes. You have sent ${bytes} bytes.`,
    );
  }
  checkBy(queue, () => {
    for (const entry of entries) checkFifo(entry, rules);
  });
  const outcome = new BatchOutcome<SqsOutput<"SendMessage">>();
  const good = entries.filter((entry) => {
    try {
      checkBy(queue, () => checkMessage(entry, rules));
      return true;
    } catch (error) {
      outcome.fail(entry.Id, error);
      return false;
    }
  });
  if (good.length > 0) {
    const records = recordsOf(context, good, rules);
    const { revision } = queue;
    const reply = await context.calls.enqueue(queue.name, { records, revision }, context.keepAlive);
    const sent = sentMessagesOf(queue, reply, records);
    for (let i = 0; i < good.length; i++) {
      const [entry, message] = [good[i], sent[i]];
      if (entry === undefined || message === undefined)
        throw new Error("the queue answered a send with too few messages");
      outcome.succeed(entryResultOf(entry.Id, entry, message));
    }
  }
  return outcome;
}

function hasValidTexts({ isQuery, text }: SqsContext): boolean {
  return !isQuery && holdsValidTexts(text);
}

/**
 * Checks messages by the rules of a queue. Rules that may be out of date refuse no request: the queue is looked up
 * again.
 */
function checkBy({ name, isFresh }: LookedUpQueue, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (isFresh || !(error instanceof AwsError)) throw error;
    throw new OutdatedQueueError(`queue "${name}" may have other rules by now`);
  }
}

/** Identity of a sent message, as its sender gets it. */
interface SentMessage {
  /** A UUID. */
  readonly messageId: string;
  readonly sequenceNumber: string | null;
}

function recordsOf(
  { traceHeader, trace }: SqsContext,
  inputs: readonly MessageInput[],
  rules: SendRules,
): readonly RecordOfMessage[] {
  return inputs.map((input) => recordOf(input, rules, { traceHeader, trace }));
}

/** Reads a queue's reply to the messages of a request. Throws the reason where the queue has stored none. */
function sentMessagesOf(
  { name }: KnownQueue,
  reply: EnqueueReply,
  records: readonly RecordOfMessage[],
): SentMessage[] {
  if (reply.ok === "outdated") throw new OutdatedQueueError(`queue "${name}" was changed`);
  if (!reply.ok) throw failureOf(reply);
  return (
    reply.messages?.map(sentMessageOf) ??
    records.map(({ messageId }) => ({ messageId, sequenceNumber: null }))
  );
}

function sentMessageOf({ messageId, sequenceNumber }: EnqueuedMessage): SentMessage {
  return { messageId: uuidOf(messageId), sequenceNumber };
}

/** Makes the error for a queue that is gone by now, or cannot take messages at the moment; then SDKs try again. */
function failureOf({ code, cause }: RpcFailure): Error {
  if (code === QUEUE_ERROR_CODES.queueNotFound) return new QueueError(code, cause);
  return new AwsError(COMMON_ERRORS.serviceUnavailable, cause);
}

function resultOf(input: MessageInput, { messageId, sequenceNumber }: SentMessage): SqsOutput<"SendMessage"> {
  return withMore(
    { MessageId: messageId, MD5OfMessageBody: md5Hex(input.MessageBody ?? "") },
    input,
    sequenceNumber,
  );
}

function entryResultOf(Id: string, input: MessageInput, { messageId, sequenceNumber }: SentMessage) {
  const result = { Id, MessageId: messageId, MD5OfMessageBody: md5Hex(input.MessageBody ?? "") };
  return withMore(result, input, sequenceNumber);
}

function withMore<Result extends object>(
  result: Result,
  { MessageAttributes: attributes, MessageSystemAttributes: system }: MessageInput,
  sequenceNumber: string | null,
): Result & Partial<SqsOutput<"SendMessage">> {
  // Most messages have only a body.
  if (attributes === undefined && system === undefined && sequenceNumber === null) return result;
  return {
    ...result,
    ...(hasEntries(attributes) ? { MD5OfMessageAttributes: attributesMd5(attributes) } : {}),
    ...(hasEntries(system) ? { MD5OfMessageSystemAttributes: attributesMd5(system) } : {}),
    ...(sequenceNumber === null ? {} : { SequenceNumber: sequenceNumber }),
  };
}

function hasEntries<Entries extends object>(entries: Entries | undefined): entries is Entries {
  return entries !== undefined && Object.keys(entries).length > 0;
}
