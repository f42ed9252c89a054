import { AwsError, COMMON_ERRORS, type ErrorKind } from "@sluice/aws";

function sender(code: string, status: ErrorKind["status"] = 400): ErrorKind {
  return { shape: `com.amazonaws.sns#${code}`, code, status, fault: "Sender" };
}

/** Errors of SNS's own (spec sns-delivery 9.2). */
export const SNS_ERRORS = {
  invalidParameter: sender("InvalidParameter"),
  parameterValueInvalid: sender("ParameterValueInvalid"),
  validationError: sender("ValidationError"),
  notFound: sender("NotFound", 404),
  resourceNotFound: sender("ResourceNotFound", 404),
  authorizationError: sender("AuthorizationError", 403),
  topicLimitExceeded: sender("TopicLimitExceeded", 403),
  subscriptionLimitExceeded: sender("SubscriptionLimitExceeded", 403),
  filterPolicyLimitExceeded: sender("FilterPolicyLimitExceeded", 403),
  tagLimitExceeded: sender("TagLimitExceeded"),
  concurrentAccess: sender("ConcurrentAccess"),
  throttled: sender("Throttled", 429),
  tooManyEntriesInBatchRequest: sender("TooManyEntriesInBatchRequest"),
  batchEntryIdsNotDistinct: sender("BatchEntryIdsNotDistinct"),
  batchRequestTooLong: sender("BatchRequestTooLong"),
  emptyBatchRequest: sender("EmptyBatchRequest"),
  invalidBatchEntryId: sender("InvalidBatchEntryId"),
} as const satisfies Record<string, ErrorKind>;

export function refuse(kind: ErrorKind, message: string): AwsError {
  return new AwsError(kind, message);
}

/** Gives an error of the framework the code that SNS has for it: `AuthorizationError` for `AccessDenied`. */
export function inOwnCode(error: AwsError): AwsError {
  return error.kind === COMMON_ERRORS.accessDenied
    ? refuse(SNS_ERRORS.authorizationError, error.message)
    : error;
}

/** `InvalidParameter`: SNS names the parameter, and sometimes the reason, behind two fixed words. */
export function invalid(text: string): AwsError {
  return refuse(SNS_ERRORS.invalidParameter, `Invalid parameter: ${text}`);
}

/** Reads a member that has to be there. Throws `AwsError` (`ValidationError`). */
export function required<Value>(value: Value | undefined, path: string): Value {
  if (value !== undefined) return value;
  throw refuse(
    SNS_ERRORS.validationError,
    `1 validation error detected: Value null at '${path}' failed to satisfy constraint: Member must not be null`,
  );
}

export function topicNotFound(): AwsError {
  return refuse(SNS_ERRORS.notFound, "Topic does not exist");
}

export function subscriptionNotFound(): AwsError {
  return refuse(SNS_ERRORS.notFound, "Subscription does not exist");
}
