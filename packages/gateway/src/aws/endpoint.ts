import {
  AwsError,
  credentialOf,
  errorAnswerOf,
  protocolOf,
  type RequestHead,
  UNSIGNED_BYTES_MAX,
} from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import { type AwsAnswer, type AwsRequest, isForm, parametersIn } from "./request.ts";
import type { SnsService } from "./sns/routes.ts";
import { lookingBody } from "./sqs/client-disconnect.ts";
import { SQS_MODEL } from "./sqs/model.ts";
import type { SqsService } from "./sqs/routes.ts";

export interface AwsServices {
  readonly sqs: SqsService;
  readonly sns: SnsService;
  /** Whether no signatures are asked for. Else at most `UNSIGNED_BYTES_MAX` are read of a body without a signature. */
  readonly isOpen: boolean;
}

/**
 * Answers a request to the endpoint that AWS's SDKs are given: SQS and SNS on one address. Only SQS speaks AWS JSON; in
 * the Query protocol the action and the version tell which service a request is for (spec sns-delivery 9.1).
 *
 * @param keepAlive keeps the request from being ended with its client.
 */
export async function answerAws(
  request: AwsRequest,
  keepAlive: KeepAlive,
  { sqs, sns, isOpen }: AwsServices,
): Promise<AwsAnswer> {
  const protocol = protocolOf(request, SQS_MODEL);
  if (protocol === "json") return sqs.answer(request, protocol, keepAlive);
  try {
    const isForSns = await isFor(sns, request, isOpen);
    return await (isForSns ? sns.answer(request, keepAlive) : sqs.answer(request, protocol, keepAlive));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    // It is unknown which service the form is for; their answers differ in the namespace of the XML alone.
    return errorAnswerOf(SQS_MODEL, protocol, error, crypto.randomUUID());
  }
}

/** Whether a request of the Query protocol is for SNS. Throws `AwsError` (`RequestEntityTooLarge`). */
async function isFor(sns: SnsService, request: AwsRequest, isOpen: boolean): Promise<boolean> {
  const { method, url, headers } = request;
  if (method !== "GET" && method !== "POST") return false;
  if (url.search !== "" && sns.isFor(url.searchParams)) return true;
  if (method === "GET" || !isForm(headers)) return false;
  // Where signatures are checked, the body is not read before the parts that need no body have passed.
  const service = isOpen ? null : signedServiceOf(request);
  if (service !== null) return service === "sns";
  return sns.isFor(parametersIn(await request.readText(isOpen ? undefined : UNSIGNED_BYTES_MAX)));
}

/** Returns the service that a signature is for; `null` without one that can be read. */
function signedServiceOf(request: RequestHead): string | null {
  try {
    return credentialOf(request)?.service ?? null;
  } catch {
    return null;
  }
}

interface RespondOptions {
  /** Whether a client that has waited is checked before it is answered (`sqs/client-disconnect.ts`). */
  readonly looksForClients: boolean;
  /** Whether the server runs in this process, on Node.js. */
  readonly isLocal: boolean;
}

/** Answers a request as `answerAws` does, by a `Response` of the platform. */
export async function respondAws(
  request: AwsRequest,
  keepAlive: KeepAlive,
  services: AwsServices,
  { looksForClients, isLocal }: RespondOptions,
): Promise<Response> {
  const answer = await answerAws(request, keepAlive, services);
  const { status, headers, body } = answer;
  // On a busy machine the end of the connection can arrive together with the messages: let it be noticed first.
  if (answer.hasWaited === true)
    await (isLocal ? connectionsRead() : new Promise((end) => setTimeout(end, 0)));
  if (answer.hasWaited !== true || !looksForClients) return new Response(body, { status, headers });
  const looking = lookingBody(body, request.client);
  keepAlive(looking.written);
  return new Response(looking.body, { status, headers });
}

/**
 * Resolves when Node.js has read from all connections. A timer is no such moment: on a busy machine it is due before
 * the event loop looks at them.
 */
function connectionsRead(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
