import { AwsError, COMMON_ERRORS, type ErrorKind } from "@sluice/aws";

function sender(name: string, code: string, status: ErrorKind["status"] = 400): ErrorKind {
  return { shape: `com.amazonaws.sqs#${name}`, code, status, fault: "Sender" };
}

const OLD = "AWS.SimpleQueueService.";

/** Errors of SQS's own (spec sqs 2.1). */
export const SQS_ERRORS = {
  queueDoesNotExist: sender("QueueDoesNotExist", `${OLD}NonExistentQueue`),
  queueNameExists: sender("QueueNameExists", "QueueAlreadyExists"),
  queueDeletedRecently: sender("QueueDeletedRecently", `${OLD}QueueDeletedRecently`),
  purgeQueueInProgress: sender("PurgeQueueInProgress", `${OLD}PurgeQueueInProgress`, 403),
  overLimit: sender("OverLimit", "OverLimit", 403),
  receiptHandleIsInvalid: sender("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404),
  batchEntryIdsNotDistinct: sender("BatchEntryIdsNotDistinct", `${OLD}BatchEntryIdsNotDistinct`),
  emptyBatchRequest: sender("EmptyBatchRequest", `${OLD}EmptyBatchRequest`),
  tooManyEntriesInBatchRequest: sender("TooManyEntriesInBatchRequest", `${OLD}TooManyEntriesInBatchRequest`),
  invalidBatchEntryId: sender("InvalidBatchEntryId", `${OLD}InvalidBatchEntryId`),
  batchRequestTooLong: sender("BatchRequestTooLong", `${OLD}BatchRequestTooLong`),
  invalidMessageContents: sender("InvalidMessageContents", "InvalidMessageContents"),
  invalidAttributeName: sender("InvalidAttributeName", "InvalidAttributeName"),
  invalidAttributeValue: sender("InvalidAttributeValue", "InvalidAttributeValue"),
  resourceNotFound: sender("ResourceNotFoundException", "ResourceNotFoundException", 404),
  unsupportedOperation: sender("UnsupportedOperation", `${OLD}UnsupportedOperation`),
  requestThrottled: sender("RequestThrottled", "RequestThrottled", 403),
  invalidAddress: sender("InvalidAddress", "InvalidAddress", 404),
} as const satisfies Record<string, ErrorKind>;

export function refuse(kind: ErrorKind, message: string): AwsError {
  return new AwsError(kind, message);
}

/** `InvalidParameterValue` with a whole sentence. */
export function invalidParameter(message: string): AwsError {
  return refuse(COMMON_ERRORS.invalidParameterValue, message);
}

/** `InvalidParameterValue` in the form that names the value, the parameter and the reason. */
export function invalidValue(value: unknown, parameter: string, reason: string): AwsError {
  return invalidParameter(`Value ${value} for parameter ${parameter} is invalid. Reason: ${reason}`);
}

/** `MissingParameter`; in XML and JSON alike it names the parameter as the Query protocol calls it. */
export function missingParameter(name: string): AwsError {
  return refuse(COMMON_ERRORS.missingParameter, `The request must contain the parameter ${name}.`);
}
