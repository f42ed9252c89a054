import { GetQueueUrlCommand, SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import { CliError, EXIT_FAILED, EXIT_NOT_FOUND } from "@sluice/project/errors";
import type { OtherQueue } from "../same-queue.ts";
import { strangeAnswer } from "../strange-answer.ts";

/** Makes a client of SQS with the region, credentials and endpoint of AWS's environment variables and profiles. */
export function openSqs(tries: number): SQSClient {
  // The client retries by itself, with growing waits. A server in a container can be reached from outside by its
  // endpoint, but not by the URLs of its queues.
  const client = new SQSClient({ maxAttempts: tries, useQueueUrlAsEndpoint: false });
  // The client does not show the endpoint that it has resolved, so it is read from the requests.
  client.middlewareStack.add(
    (next) => (args) => {
      addresses.set(client, endpointOf(args.request));
      return next(args);
    },
    { step: "build" },
  );
  // Low priority: this runs inside of the retries, which get the same error object.
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw Object.assign(Object(error), { endpoint: endpointOf(args.request) });
      }
    },
    { step: "finalizeRequest", priority: "low", name: "endpointOfFailure" },
  );
  return client;
}

/** Addresses to which clients have sent their latest requests. */
const addresses = new WeakMap<SQSClient, string>();

/** Describes the place of a queue by its name there and the address of the server. */
export function placeOf(client: SQSClient, name: string): string {
  return `${name} at ${addresses.get(client)}`;
}

/** Facts for deciding whether a queue of SQS is the broker's own. */
export function identityOf(
  client: SQSClient,
  of: "source" | "target",
  { CreatedTimestamp }: Readonly<Record<string, string>>,
): OtherQueue {
  return {
    ...(CreatedTimestamp === undefined ? {} : { createdSeconds: Number(CreatedTimestamp) }),
    hasQueue: async (name) => (await urlOf(client, of, name)) !== null,
  };
}

function endpointOf(request: unknown): string {
  const { protocol, hostname, port } = request as { protocol: string; hostname: string; port?: number };
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`;
}

/** Names of AWS's errors for unknown or expired credentials. */
const UNKNOWN_CREDENTIALS = [
  "InvalidClientTokenId",
  "UnrecognizedClientException",
  "SignatureDoesNotMatch",
  "InvalidAccessKeyId",
  "ExpiredToken",
  "ExpiredTokenException",
];
const NO_QUEUE = ["QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"];
const NEEDS: Readonly<Record<"source" | "target", string>> = {
  source: "GetQueueUrl, GetQueueAttributes, ListQueueTags, ReceiveMessage, DeleteMessage",
  target: "GetQueueUrl, CreateQueue, TagQueue, GetQueueAttributes, SendMessage",
};

/**
 * Calls SQS.
 *
 * @param of side of the move on which the queue is, for the permissions that an error names.
 * @throws CliError with one sentence for AWS's error.
 */
export async function callSqs<T>(of: "source" | "target", call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw sentenceFor(error, of);
  }
}

/** Finds the URL of a queue by its name; `null` for none. */
export async function urlOf(
  client: SQSClient,
  of: "source" | "target",
  name: string,
): Promise<string | null> {
  try {
    const found = await callSqs(of, () => client.send(new GetQueueUrlCommand({ QueueName: name })));
    if (found.QueueUrl !== undefined) return found.QueueUrl;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT_NOT_FOUND) return null;
    throw error;
  }
  throw new CliError(
    "SQS answers GetQueueUrl without a URL: does AWS_ENDPOINT_URL lead to SQS?",
    EXIT_FAILED,
  );
}

/** Failure of a call, with the answer if one came. */
interface CallFailure {
  readonly endpoint?: string;
  readonly $response?: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> };
}

/** Describes an answer that does not come from SQS; `null` for any other failure. */
function strangeAnswerIn(error: Error): string | null {
  const { endpoint = "The endpoint", $response } = error as CallFailure;
  const isStrange = error.name === "SyntaxError" || error.message === "UnknownError";
  if ($response === undefined || !isStrange) return null;
  const { statusCode: status, headers } = $response;
  return strangeAnswer(endpoint, "SQS", {
    status,
    contentType: headers["content-type"],
    location: headers.location,
  });
}

function sentenceFor(error: Error, of: "source" | "target"): CliError {
  const { name, message } = error;
  const strange = strangeAnswerIn(error);
  if (strange !== null) return new CliError(strange, EXIT_FAILED);
  if (NO_QUEUE.includes(name)) return new CliError("There is no such queue in SQS.", EXIT_NOT_FOUND);
  if (name === "CredentialsProviderError") {
    return new CliError(
      "There are no credentials for AWS: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    );
  }
  if (message === "Region is missing") return new CliError("Set AWS_REGION to the region of the queue.");
  if (UNKNOWN_CREDENTIALS.includes(name))
    return new CliError(`AWS does not accept the credentials: ${message}`);
  if (/AccessDenied/.test(name)) {
    return new CliError(
      `AWS refuses it: ${message} The credentials need these actions of SQS: ${NEEDS[of]}.`,
    );
  }
  const isAnswer = error instanceof SQSServiceException;
  return new CliError(
    isAnswer ? `SQS refuses it: ${message} (${name})` : `SQS does not answer: ${message}`,
    EXIT_FAILED,
  );
}
