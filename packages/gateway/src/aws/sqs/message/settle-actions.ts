import type { DeleteOutcome, VisibilityOutcome } from "@sluice/protocol";
import type { SqsContext } from "../context.ts";
import { invalidParameter, invalidValue, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { KnownQueue } from "../known-queues.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { onQueue } from "../on-queue.ts";
import { BatchOutcome, checkEntries } from "./batch.ts";
import { VISIBILITY_SECONDS_MAX } from "./receive-actions.ts";

export function deleteMessage(
  context: SqsContext,
  { QueueUrl, ReceiptHandle: receipt }: SqsInput<"DeleteMessage">,
): Promise<void> {
  return onQueue(context, QueueUrl, async ({ name }) => {
    if (!receipt) throw missingParameter("ReceiptHandle");
    const [outcome] = await context.calls.deleteBatch(name, [receipt], context.keepAlive);
    refuseDelete(outcome, receipt);
  });
}

export function deleteMessageBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"DeleteMessageBatch">,
): Promise<SqsOutput<"DeleteMessageBatch">> {
  return onQueue(context, QueueUrl, async ({ name }) => {
    const entryName = "DeleteMessageBatchRequestEntry";
    const entries = checkEntries(Entries, entryName);
    const receipts = entries.map(({ ReceiptHandle = "" }) => ReceiptHandle);
    const outcomes = await context.calls.deleteBatch(name, receipts, context.keepAlive);
    const result = new BatchOutcome<object>();
    for (let i = 0; i < entries.length; i++) {
      const { Id, ReceiptHandle: receipt } = entries[i] as (typeof entries)[number]; // i < length
      try {
        if (!receipt) throw missingParameter(`${entryName}.${i + 1}.ReceiptHandle`);
        refuseDelete(outcomes[i], receipt);
        result.succeed({ Id });
      } catch (error) {
        result.fail(Id, error);
      }
    }
    return result;
  });
}

export function changeMessageVisibility(
  context: SqsContext,
  { QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: seconds }: SqsInput<"ChangeMessageVisibility">,
): Promise<void> {
  return onQueue(context, QueueUrl, async ({ name }) => {
    if (!receipt) throw missingParameter("ReceiptHandle");
    if (seconds === undefined) throw missingParameter("VisibilityTimeout");
    if (!isVisibility(seconds)) {
      throw invalidValue(seconds, "VisibilityTimeout", `Must be between 0 and ${VISIBILITY_SECONDS_MAX}.`);
    }
    const change = { receipt, visibilityTimeoutMs: 1_000 * seconds };
    const [outcome] = await context.calls.changeVisibilityBatch(name, [change], context.keepAlive);
    refuseChange(outcome, receipt, seconds);
  });
}

export function changeMessageVisibilityBatch(
  context: SqsContext,
  { QueueUrl, Entries }: SqsInput<"ChangeMessageVisibilityBatch">,
): Promise<SqsOutput<"ChangeMessageVisibilityBatch">> {
  return onQueue(context, QueueUrl, (queue) => changeEntries(context, queue, Entries));
}

async function changeEntries(
  context: SqsContext,
  { name }: KnownQueue,
  Entries: SqsInput<"ChangeMessageVisibilityBatch">["Entries"],
): Promise<SqsOutput<"ChangeMessageVisibilityBatch">> {
  const entryName = "ChangeMessageVisibilityBatchRequestEntry";
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
    changes.length === 0 ? [] : await context.calls.changeVisibilityBatch(name, changes, context.keepAlive);
  for (const [i, { Id, receipt, seconds }] of good.entries()) {
    try {
      refuseChange(outcomes[i], receipt, seconds);
      result.succeed({ Id });
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
