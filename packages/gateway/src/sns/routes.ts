import {
  type Answer,
  AwsError,
  answerOf,
  COMMON_ERRORS,
  credentialOf,
  errorAnswerOf,
  type FormNode,
  REQUEST_BYTES_MAX,
  readCall,
  type SignedRequest,
} from "@sluice/aws";
import type { KeepAlive } from "@sluice/protocol";
import { type AwsAccess, type Caller, callerOf, refusedPage } from "../aws-caller.ts";
import type { AwsRequest } from "../aws-request.ts";
import { brokerFailure } from "../broker-failure.ts";
import type { Home } from "../queue-address.ts";
import { handle, UNSIGNED_ACTIONS } from "./actions.ts";
import type { SnsContext, SnsPorts } from "./context.ts";
import { refuse } from "./errors.ts";
import { SNS_ACTIONS, SNS_MODEL, SNS_VERSION } from "./model.ts";
import { TopicCalls } from "./publish/topic-calls.ts";
import { certificateOf, Signers } from "./signers.ts";

/** Amazon SNS as the AWS endpoint calls it. */
export interface SnsService {
  /** Whether a request is for SNS, as far as its parameters say (spec sns-delivery 9.1). */
  isFor(parameters: Pick<URLSearchParams, "get">): boolean;
  /**
   * Answers a request. Whatever goes wrong is answered as SNS answers it; what is our fault as `InternalFailure`, with the
   * reason in the log only.
   *
   * @param keepAlive keeps the request from being ended with its client.
   * @param form all parameters of the request, if somebody has read them.
   */
  answer(request: AwsRequest, keepAlive: KeepAlive, form?: FormNode): Promise<Answer>;
  /** The certificate that signatures are checked with, by the last part of its URL. */
  certificate(fileName: string): Promise<Response>;
}

/** Actions of both services. */
const SQS_TOO = ["AddPermission", "RemovePermission"];

/** @param prefix of the AWS endpoint: URLs in messages begin with it. */
export function snsService(prefix: string, ports: SnsPorts, home: Home, access: AwsAccess): SnsService {
  const signers = new Signers();
  const calls = new TopicCalls(ports);

  async function outputOf(
    request: AwsRequest,
    requestId: string,
    keepAlive: KeepAlive,
    form: FormNode | undefined,
  ): Promise<Answer> {
    const { page, url } = request;
    const refused = refusedPage(page, access);
    if (refused !== null) throw refused;
    const body = await request.readBytes();
    if (body.byteLength > REQUEST_BYTES_MAX) {
      const text = `A request can have ${REQUEST_BYTES_MAX} bytes at most.`;
      throw refuse(COMMON_ERRORS.invalidParameterValue, text);
    }
    const isSigned = hasSignature(request);
    // What is not checked has to be read before it is known who may ask for it.
    const open = access.kind === "keys" && !isSigned ? readCall(request, SNS_MODEL, { form }) : null;
    const caller =
      open !== null && UNSIGNED_ACTIONS.includes(open.action)
        ? anonymous(home)
        : callerOf(request, access, home, ports.now());
    const call = open ?? readCall(request, SNS_MODEL, { form });
    const context: SnsContext = {
      ...{ ports, home, caller, isSigned, signers, calls, keepAlive },
      endpoint: `${url.origin}${prefix}`,
    };
    const output = await handle(context, call.action, call.input);
    return answerOf(SNS_MODEL, call, output, requestId);
  }

  return {
    isFor: (parameters) => {
      const version = parameters.get("Version");
      if (version !== null) return version === SNS_VERSION;
      // Links in messages name no version. What SQS has too is taken for its own.
      const action = parameters.get("Action") ?? "";
      return Object.hasOwn(SNS_ACTIONS, action) && !SQS_TOO.includes(action);
    },
    answer: async (request, keepAlive, form) => {
      const requestId = crypto.randomUUID();
      try {
        return await outputOf(request, requestId, keepAlive, form);
      } catch (error) {
        if (error instanceof AwsError) {
          return errorAnswerOf(SNS_MODEL, "query", error, requestId);
        }
        return errorAnswerOf(SNS_MODEL, "query", brokerFailure("SNS", requestId, error), requestId);
      }
    },
    certificate: async (fileName) => {
      const pem = await certificateOf(ports.topics, fileName);
      if (pem === null) return new Response("There is no such certificate.\n", { status: 404 });
      return new Response(pem, { headers: { "content-type": "application/x-pem-file" } });
    },
  };
}

function hasSignature(request: SignedRequest): boolean {
  try {
    return credentialOf(request) !== null;
  } catch {
    return false;
  }
}

function anonymous(home: Home): Caller {
  return { ...home, accessKeyId: "anonymous" };
}
