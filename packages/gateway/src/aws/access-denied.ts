import { AwsError, COMMON_ERRORS } from "@sluice/aws";
import type { Caller } from "./caller.ts";

/** Error for a caller that has made more requests than its access key may make. */
export class ThrottledError extends AwsError {
  /** Seconds until the next request may come. */
  readonly afterSeconds: number;

  constructor(kind: AwsError["kind"], afterSeconds: number) {
    super(kind, "Rate exceeded");
    this.afterSeconds = afterSeconds;
  }
}

/** Makes the headers of the answer to a request that failed. */
export function headersOfFailure(error: unknown): Readonly<Record<string, string>> {
  return error instanceof ThrottledError ? { "retry-after": `${error.afterSeconds}` } : {};
}

/**
 * `AccessDenied` in the words that AWS has for a user without a policy.
 *
 * @param action with its service, as AWS writes it there: `sqs:sendmessage`, `SNS:Publish`.
 * @param resource an ARN.
 */
export function accessDenied({ account, rights }: Caller, action: string, resource: string): AwsError {
  return new AwsError(
    COMMON_ERRORS.accessDenied,
    `User: arn:aws:iam::${account}:user/${rights.by} is not authorized to perform: ${action} on resource: ` +
      `${resource} because no identity-based policy allows the ${action} action`,
  );
}
