import { AwsError, attributesMd5, COMMON_ERRORS, md5Hex } from "@sluice/aws";
import {
  type EnqueuedMessage,
  PackedWriter,
  QUEUE_ERROR_CODES,
  type QueueRecord,
  type RpcFailure,
} from "@sluice/protocol";
import { queueDoesNotExist, queueOf, type SqsContext } from "../context.ts";
import { refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { NUMBER_ATTRIBUTES } from "../queue/attribute-names.ts";
import { sqsOf } from "../queue/dialect.ts";
import { BATCH_BYTES_MAX, BatchOutcome, checkEntries } from "./batch.ts";
import { newMessageId, uuidOf } from "./message-id.ts";
import {
  checkFifo,
  checkMessage,
  type MessageInput,
  messageBytes,
  recordOf,
  type SendRules,
} from "./outgoing.ts";

export async function sendMessage(
  context: SqsContext,
  { QueueUrl, ...input }: SqsInput<"SendMessage">,
): Promise<SqsOutput<"SendMessage">> {
  const { record } = await queueOf(context, QueueUrl);
  const rules = rulesOf(record, false);
  if (!input.MessageBody) checkMessage(input, rules);
  checkFifo(input, rules);
  checkMessage(input, rules);
  const [sent] = await enqueue(context, record, [input], rules);
  if (sent === undefined) throw new Error("the queue answered a send with no message");
  return resultOf(input, sent);
}

export async function sendMessageBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"SendMessageBatch">,
): Promise<SqsOutput<"SendMessageBatch">> {
  const { record } = await queueOf(context, QueueUrl);
  const rules = rulesOf(record, true);
  const entries = checkEntries(Entries, "SendMessageBatchRequestEntry");
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0);
  if (bytes > BATCH_BYTES_MAX) {
    throw refuse(
      SQS_ERRORS.batchRequestTooLong,
      `Batch requests cannot be longer than ${BATCH_BYTES_MAX} bytes. You have sent ${bytes} bytes.`,
    );
  }
  for (const entry of entries) checkFifo(entry, rules);
  const outcome = new BatchOutcome<SqsOutput<"SendMessage">>();
  const good = entries.filter((entry) => {
    try {
      checkMessage(entry, rules);
      return true;
    } catch (error) {
      outcome.fail(entry.Id, error);
      return false;
    }
  });
  if (good.length > 0) {
    const sent = await enqueue(context, record, good, rules);
    for (const [i, entry] of good.entries()) {
      const message = sent[i];
      if (message === undefined) throw new Error("the queue answered a send with too few messages");
      outcome.succeed(entry.Id, resultOf(entry, message));
    }
  }
  return outcome;
}

function rulesOf(record: QueueRecord, isBatch: boolean): SendRules {
  const { attributes } = sqsOf(record);
  return {
    isFifo: record.definition.fifo !== undefined,
    hasContentBasedDeduplication: record.definition.fifo?.contentBasedDeduplication === true,
    bytesMax: Number(attributes.MaximumMessageSize ?? NUMBER_ATTRIBUTES.MaximumMessageSize.standard),
    isBatch,
  };
}

async function enqueue(
  context: SqsContext,
  { name }: QueueRecord,
  inputs: readonly MessageInput[],
  rules: SendRules,
): Promise<readonly EnqueuedMessage[]> {
  const { ports, traceHeader } = context;
  const writer = new PackedWriter();
  for (const input of inputs) writer.append(recordOf(input, rules, newMessageId(), traceHeader));
  const reply = await ports.queue(name).enqueue(name, { packed: writer.slice(0, writer.byteLength) });
  if (!reply.ok) throw failureOf(context, reply);
  return reply.messages;
}

/** The queue is gone meanwhile, or cannot take anything now; then SDKs try again. */
function failureOf(context: SqsContext, { code, cause }: RpcFailure): AwsError {
  if (code === QUEUE_ERROR_CODES.queueNotFound) return queueDoesNotExist(context);
  return new AwsError(COMMON_ERRORS.serviceUnavailable, cause);
}

function resultOf(
  input: MessageInput,
  { messageId, sequenceNumber }: EnqueuedMessage,
): SqsOutput<"SendMessage"> {
  const {
    MessageBody: body = "",
    MessageAttributes: attributes = {},
    MessageSystemAttributes: system = {},
  } = input;
  return {
    MessageId: uuidOf(messageId),
    MD5OfMessageBody: md5Hex(body),
    ...(Object.keys(attributes).length === 0 ? {} : { MD5OfMessageAttributes: attributesMd5(attributes) }),
    ...(Object.keys(system).length === 0 ? {} : { MD5OfMessageSystemAttributes: attributesMd5(system) }),
    ...(sequenceNumber === null ? {} : { SequenceNumber: sequenceNumber }),
  };
}
