/** Side at fault for an error: `Type` in XML, and in the query-error header the part behind the code. */
export type Fault = "Sender" | "Receiver";

/** Kind of an error of AWS's services, with its name in each protocol. */
export interface ErrorKind {
  /** Name of the error's shape, with its namespace: `__type` in JSON. */
  readonly shape: string;
  /** Older code: `Code` in XML and first half of the `x-amzn-query-error` header. */
  readonly code: string;
  /** HTTP status. */
  readonly status: 400 | 403 | 404 | 408 | 413 | 429 | 500 | 503;
  readonly fault: Fault;
}

/** Error with which an action refuses a request. The message is the dialect's. */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

function senders<Status extends ErrorKind["status"]>(shape: string, code: string, status: Status) {
  return { shape, code, status, fault: "Sender" } as const satisfies ErrorKind;
}

const CORAL = "com.amazon.coral.service#";

/** Errors of the framework that all services share (spec sqs 1.2, 1.5, 2.1). */
export const COMMON_ERRORS = {
  invalidParameterValue: senders(`${CORAL}InvalidParameterValueException`, "InvalidParameterValue", 400),
  missingParameter: senders(`${CORAL}MissingRequiredParameterException`, "MissingParameter", 400),
  serialization: senders(`${CORAL}SerializationException`, "MalformedInput", 400),
  invalidAction: senders(`${CORAL}InvalidAction`, "InvalidAction", 400),
  unknownOperation: senders(`${CORAL}UnknownOperationException`, "InvalidAction", 404),
  missingAuthenticationToken: senders(
    `${CORAL}MissingAuthenticationTokenException`,
    "MissingAuthenticationToken",
    403,
  ),
  invalidClientTokenId: senders(`${CORAL}UnrecognizedClientException`, "InvalidClientTokenId", 403),
  signatureDoesNotMatch: senders(`${CORAL}InvalidSignatureException`, "SignatureDoesNotMatch", 403),
  incompleteSignature: senders(`${CORAL}IncompleteSignatureException`, "IncompleteSignature", 400),
  requestExpired: senders(`${CORAL}RequestExpired`, "RequestExpired", 400),
  accessDenied: senders(`${CORAL}AccessDeniedException`, "AccessDenied", 403),
  requestTimeout: senders(`${CORAL}RequestTimeoutException`, "RequestTimeout", 408),
  requestEntityTooLarge: senders(`${CORAL}RequestEntityTooLargeException`, "RequestEntityTooLarge", 413),
  internalFailure: {
    shape: `${CORAL}InternalFailure`,
    code: "InternalFailure",
    status: 500,
    fault: "Receiver",
  },
  serviceUnavailable: {
    shape: `${CORAL}ServiceUnavailableException`,
    code: "ServiceUnavailable",
    status: 503,
    fault: "Receiver",
  },
} as const satisfies Record<string, ErrorKind>;
