import type { DeleteOutcome, VisibilityOutcome } from "@sluice/protocol";
import { queueOf, type SqsContext } from "../context.ts";
import { invalidParameter, invalidValue, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { BatchOutcome, checkEntries } from "./batch.ts";
import { VISIBILITY_SECONDS_MAX } from "./receive-actions.ts";

export async function deleteMessage(
  context: SqsContext,
  { QueueUrl, ReceiptHandle: receipt }: SqsInput<"DeleteMessage">,
): Promise<void> {
  const { record } = await queueOf(context, QueueUrl);
  if (!receipt) throw missingParameter("ReceiptHandle");
  const [outcome] = await context.ports.queue(record.name).deleteBatch(record.name, [receipt]);
  refuseDelete(outcome, receipt);
}

export async function deleteMessageBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"DeleteMessageBatch">,
): Promise<SqsOutput<"DeleteMessageBatch">> {
  const entryName = "DeleteMessageBatchRequestEntry";
  const { record } = await queueOf(context, QueueUrl);
  const entries = checkEntries(Entries, entryName);
  const receipts = entries.map(({ ReceiptHandle = "" }) => ReceiptHandle);
  const outcomes = await context.ports.queue(record.name).deleteBatch(record.name, receipts);
  const result = new BatchOutcome<object>();
  for (const [i, { Id, ReceiptHandle: receipt }] of entries.entries()) {
    try {
      if (!receipt) throw missingParameter(`${entryName}.${i + 1}.ReceiptHandle`);
      refuseDelete(outcomes[i], receipt);
      result.succeed(Id, {});
    } catch (error) {
      result.fail(Id, error);
    }
  }
  return result;
}

export async function changeMessageVisibility(
  context: SqsContext,
  { QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: seconds }: SqsInput<"ChangeMessageVisibility">,
): Promise<void> {
  const { record } = await queueOf(context, QueueUrl);
  if (!receipt) throw missingParameter("ReceiptHandle");
  if (seconds === undefined) throw missingParameter("VisibilityTimeout");
  if (!isVisibility(seconds)) {
    throw invalidValue(seconds, "VisibilityTimeout", `Must be between 0 and ${VISIBILITY_SECONDS_MAX}.`);
  }
  const change = { receipt, visibilityTimeoutMs: 1_000 * seconds };
  const [outcome] = await context.ports.queue(record.name).changeVisibilityBatch(record.name, [change]);
  refuseChange(outcome, receipt, seconds);
}

export async function changeMessageVisibilityBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"ChangeMessageVisibilityBatch">,
): Promise<SqsOutput<"ChangeMessageVisibilityBatch">> {
  const entryName = "ChangeMessageVisibilityBatchRequestEntry";
  const { record } = await queueOf(context, QueueUrl);
  const entries = checkEntries(Entries, entryName);
  const result = new BatchOutcome<object>();
  const good = entries.flatMap(({ Id, ReceiptHandle: receipt, VisibilityTimeout: seconds }, i) => {
    try {
      if (!receipt) throw missingParameter(`${entryName}.${i + 1}.ReceiptHandle`);
      if (seconds === undefined) throw missingParameter(`${entryName}.${i + 1}.VisibilityTimeout`);
      if (!isVisibility(seconds)) {
        const reason = `VisibilityTimeout must be an integer between 0 and ${VISIBILITY_SECONDS_MAX}.`;
        throw invalidValue(seconds, "VisibilityTimeout", reason);
      }
      return [{ Id, receipt, seconds }];
    } catch (error) {
      result.fail(Id, error);
      return [];
    }
  });
  const changes = good.map(({ receipt, seconds }) => ({ receipt, visibilityTimeoutMs: 1_000 * seconds }));
  const outcomes =
    changes.length === 0
      ? []
      : await context.ports.queue(record.name).changeVisibilityBatch(record.name, changes);
  for (const [i, { Id, receipt, seconds }] of good.entries()) {
    try {
      refuseChange(outcomes[i], receipt, seconds);
      result.succeed(Id, {});
    } catch (error) {
      result.fail(Id, error);
    }
  }
  return result;
}

function isVisibility(seconds: number): boolean {
  return seconds >= 0 && seconds <= VISIBILITY_SECONDS_MAX;
}

function refuseDelete(outcome: DeleteOutcome | undefined, receipt: string): void {
  if (outcome === "invalid") throw invalidReceipt(receipt);
  if (outcome === "expired") throw expiredReceipt(receipt);
}

function refuseChange(outcome: VisibilityOutcome | undefined, receipt: string, seconds: number): void {
  switch (outcome) {
    case "invalid":
      throw invalidReceipt(receipt);
    case "expired":
      throw expiredReceipt(receipt);
    case "gone":
      throw invalidParameter(
        `Value ${receipt} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available ` +
          "for visibility timeout change.",
      );
    case "overTotal":
      throw invalidValue(
        seconds,
        "VisibilityTimeout",
        `Total VisibilityTimeout for the message is beyond the limit [${VISIBILITY_SECONDS_MAX} seconds].`,
      );
  }
}

function invalidReceipt(receipt: string) {
  return refuse(
    SQS_ERRORS.receiptHandleIsInvalid,
    `The input receipt handle "${receipt}" is not a valid receipt handle.`,
  );
}

function expiredReceipt(receipt: string) {
  return invalidValue(receipt, "ReceiptHandle", "The receipt handle has expired.");
}
