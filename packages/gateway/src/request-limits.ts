import {
  REQUEST_BYTES_MAX as AWS_BYTES_MAX,
  AwsError,
  COMMON_ERRORS,
  errorAnswerOf,
  isPresigned,
  isSignatureHeader,
  protocolOf,
  type RequestHeaders,
  type ResponseParts,
  requestTooLarge,
  UNSIGNED_BYTES_MAX,
} from "@sluice/aws";
import { QUEUE_ERROR_CODES } from "@sluice/protocol";
import { failure } from "./admin/failure.ts";
import { isAwsCall, isBelow } from "./aws/path.ts";
import { SQS_MODEL } from "./aws/sqs/model.ts";
import { REQUEST_BYTES_MAX as CLOUDFLARE_BYTES_MAX } from "./cloudflare/json-body.ts";
import { PREFIX } from "./http/prefix.ts";

/** Largest body of a request to the admin API, or to a path of no dialect, in bytes. */
export const ADMIN_BYTES_MAX = 65_536;
/** Largest request with messages for the admin API, in bytes: as large as in the other dialects. */
export const ADMIN_MESSAGES_BYTES_MAX = 4_000_000;
const ADMIN_MESSAGES = /^[^/]+\/messages(\/batch|\/[^/]+\/resend)?$/;
/** Seconds after which to try again when a request was refused because too much else is being read. */
export const RETRY_AFTER_SECONDS = 1;

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  readonly pathname: string;
  /** The query with its question mark; empty if there is none. */
  readonly search: string;
  readonly headers: Pick<RequestHeaders, "get">;
}

/**
 * Why a request is refused before it is read.
 *
 * - `tooLarge`: its body is longer than its dialect takes.
 * - `busy`: too much else is being read or answered.
 * - `late`: its body did not come in time.
 * - `fragmented`: its body comes in too many small chunks.
 */
export type Unread = "tooLarge" | "busy" | "late" | "fragmented";

/**
 * Largest body that is read, in bytes: as its dialect has it.
 *
 * @param asksForSignatures whether AWS's clients have to sign (`Gateway.asksForSignatures`).
 */
export function bodyBytesMax(head: RequestHead, asksForSignatures: boolean): number {
  switch (dialectOf(head)) {
    case "aws":
      return asksForSignatures && !claimsSignature(head) ? UNSIGNED_BYTES_MAX : AWS_BYTES_MAX;
    case "cloudflare":
      return CLOUDFLARE_BYTES_MAX;
    case "admin":
      return adminBytesMax(head);
  }
}

/** Whether a request says that it is signed, truly or not. */
function claimsSignature({ search, headers }: RequestHead): boolean {
  if (isSignatureHeader(headers.get("authorization"))) return true;
  return search !== "" && isPresigned(new URLSearchParams(search));
}

function adminBytesMax({ pathname }: RequestHead): number {
  if (pathname.startsWith(`${PREFIX}/api/backup/`) || pathname === `${PREFIX}/mcp`)
    return ADMIN_MESSAGES_BYTES_MAX;
  const queues = `${PREFIX}/api/queues/`;
  const hasMessages = pathname.startsWith(queues) && ADMIN_MESSAGES.test(pathname.slice(queues.length));
  return hasMessages ? ADMIN_MESSAGES_BYTES_MAX : ADMIN_BYTES_MAX;
}

/**
 * Makes the answer to a request that is not read, in the words of its dialect. The rest of its body is dropped.
 *
 * @param bytesMax most bytes that its body may have (`bodyBytesMax`).
 */
export function unreadRefusal(head: RequestHead, why: Unread, bytesMax: number): ResponseParts {
  const answer = inDialect(head, why, bytesMax);
  if (why !== "busy") return answer;
  return { ...answer, headers: { ...answer.headers, "retry-after": String(RETRY_AFTER_SECONDS) } };
}

type Dialect = "aws" | "cloudflare" | "admin";

function dialectOf({ method, pathname, search, headers }: RequestHead): Dialect {
  if (isBelow(pathname, `${PREFIX}/aws`)) return "aws";
  if (isBelow(pathname, `${PREFIX}/client/v4`)) return "cloudflare";
  return !isBelow(pathname, PREFIX) && isAwsCall(method, search, headers) ? "aws" : "admin";
}

const BUSY = "Too many requests are being read: try again.";
const LATE = "The body of the request did not come in time.";
const FRAGMENTED = "The body of the request comes in too many small chunks.";

function inDialect(head: RequestHead, why: Unread, bytesMax: number): ResponseParts {
  switch (dialectOf(head)) {
    case "aws":
      return awsRefusal(head, why, bytesMax);
    case "cloudflare":
      return cloudflareRefusal(head, why, bytesMax);
    case "admin":
      return adminRefusal(why, bytesMax);
  }
}

function awsRefusal({ headers }: RequestHead, why: Unread, bytesMax: number): ResponseParts {
  // The body of a form names its service. The answers of SQS and SNS differ in the namespace of the XML alone.
  const protocol = protocolOf({ headers }, SQS_MODEL);
  return errorAnswerOf(SQS_MODEL, protocol, awsError(why, bytesMax), crypto.randomUUID());
}

function awsError(why: Unread, bytesMax: number): AwsError {
  switch (why) {
    case "tooLarge":
      return requestTooLarge(bytesMax);
    case "busy":
      return new AwsError(COMMON_ERRORS.serviceUnavailable, BUSY);
    case "late":
      return new AwsError(COMMON_ERRORS.requestTimeout, LATE);
    case "fragmented":
      return new AwsError(COMMON_ERRORS.requestEntityTooLarge, FRAGMENTED);
  }
}

function cloudflareRefusal({ pathname }: RequestHead, why: Unread, bytesMax: number): ResponseParts {
  const isOfMessages = /\/messages(\/|$)/.test(pathname);
  const tooLarge = `the request exceeds the limit of ${bytesMax} bytes`;
  const code = {
    tooLarge: isOfMessages ? QUEUE_ERROR_CODES.batchSizeOutOfBounds : 10026,
    busy: 15000,
    late: 10026,
    fragmented: 10026,
  }[why];
  const message = { tooLarge, busy: BUSY, late: LATE, fragmented: FRAGMENTED }[why];
  return json(STATUSES[why], { success: false, errors: [{ code, message }], messages: [], result: null });
}

function adminRefusal(why: Unread, bytesMax: number): ResponseParts {
  const code = { tooLarge: "body_too_large", busy: "busy", late: "body_late", fragmented: "body_fragmented" }[
    why
  ];
  const tooLarge = `The body of a request can have ${bytesMax} bytes at most.`;
  const message = { tooLarge, busy: BUSY, late: LATE, fragmented: FRAGMENTED }[why];
  return json(STATUSES[why], failure(code, message));
}

const STATUSES = { tooLarge: 413, busy: 503, late: 408, fragmented: 413 } as const satisfies Record<
  Unread,
  number
>;

function json(status: number, body: object): ResponseParts {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
