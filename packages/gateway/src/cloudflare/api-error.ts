import type { ContentfulStatusCode } from "hono/utils/http-status";

/**
 * Codes of Cloudflare's API that this broker answers with (spec cloudflare-queues 5.6, 6.8). Cloudflare publishes few
 * of its texts for them, so most texts are our own.
 */
export const API_CODES = {
  throttled: 971,
  noRoute: 7003,
  authentication: 10000,
  workerNotFound: 10007,
  invalidBody: 10026,
  serviceNotFound: 10090,
  queueIdMalformed: 10107,
  queueNotFound: 11000,
  queueNameInvalid: 11003,
  consumerExists: 11004,
  consumerNotFound: 11006,
  queueNameTaken: 11009,
  /** Codes of R2's event notifications, as production was seen to answer them (alchemy-run/distilled, `r2.ts`). */
  r2BucketNameInvalid: 10005,
  r2RuleNotFound: 11011,
  r2RuleInvalid: 11014,
  r2BucketWithoutRules: 11015,
  queueHasR2Rules: 11017,
  r2RulesOverlap: 11020,
  consumerSettingsInvalid: 100127,
  queueSettingsInvalid: 100128,
  /** Code in answers of event subscriptions, which have none of their own. */
  none: 0,
} as const;

/** An answer of the API that is not a success. Thrown anywhere in a request, it becomes the error envelope. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: ContentfulStatusCode;
  readonly code: number;

  constructor(status: ContentfulStatusCode, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Makes the error for an invalid body or parameter. */
export function invalid(message: string): ApiError {
  return new ApiError(400, API_CODES.invalidBody, message);
}
