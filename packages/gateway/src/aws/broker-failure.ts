import { AwsError, COMMON_ERRORS } from "@sluice/aws";

/** What the platform fails the calls of an object with whose commit found no room. */
const STORAGE_FULL = "SQLITE_FULL";

/**
 * What a client of SQS or SNS is told of a failure that is not its own: `ServiceUnavailable` when there is no room to
 * write to, else `InternalFailure`, with the reason in the log only. Every SDK tries both again.
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
