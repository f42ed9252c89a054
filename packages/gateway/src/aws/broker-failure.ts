import { AwsError, COMMON_ERRORS } from "@sluice/aws";

/** Code of the error with which the platform fails the calls of an object whose commit found no room. */
const STORAGE_FULL = "SQLITE_FULL";

/**
 * Creates the error for a client of SQS or SNS after a failure of the broker: `ServiceUnavailable` when storage is
 * full, else `InternalFailure`, with the reason in the log only. Every SDK tries both again.
 */
export function brokerFailure(dialect: "SQS" | "SNS", requestId: string, error: unknown): AwsError {
  if (String(error).includes(STORAGE_FULL)) {
    console.error(`${dialect} request ${requestId} failed: the disk or the database of its queue is full`);
    return new AwsError(
      COMMON_ERRORS.serviceUnavailable,
      "Queue storage limit exceeded: its disk or its database is full.",
    );
  }
  console.error(`${dialect} request ${requestId} failed: ${error instanceof Error ? error.stack : error}`);
  return new AwsError(COMMON_ERRORS.internalFailure, "The broker failed; its log says why.");
}
