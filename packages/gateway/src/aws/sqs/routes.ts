import {
  AwsError,
  answerOf,
  type Call,
  COMMON_ERRORS,
  errorAnswerOf,
  type Protocol,
  type ResponseParts,
  readCall,
} from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import { isQueueNotFound } from "@sluice/protocol";
import type { PublicAddress } from "../../http/public-address.ts";
import { traceOfRequest } from "../../http/trace-of-request.ts";
import type { KeptKeys } from "../../rights/access-keys.ts";
import { needRefusal } from "../../rights/rights.ts";
import { accessDenied, headersOfFailure, ThrottledError } from "../access-denied.ts";
import { actionNamed } from "../action.ts";
import { brokerFailure } from "../broker-failure.ts";
import { type AwsAccess, type Caller, callerOf, refusePage } from "../caller.ts";
import { Change } from "../change.ts";
import { endpointPath } from "../path.ts";
import { arnOf } from "../queue-address.ts";
import type { AwsAnswer, AwsRequest } from "../request.ts";
import { traceHeaderOf } from "../trace-header.ts";
import { QUEUELESS_ACTIONS, SQS_EFFECTS, SQS_HANDLERS } from "./actions.ts";
import { queueDoesNotExist, type SqsContext, type SqsPorts, type SqsSettings } from "./context.ts";
import { refuse, SQS_ERRORS } from "./errors.ts";
import { KnownQueues } from "./known-queues.ts";
import { SQS_MODEL } from "./model.ts";
import { QueueCalls } from "./queue-calls.ts";

/**
 * HTTP methods of each protocol. A request with another one is no operation: a HEAD must change nothing, though it
 * looks like a GET (spec sqs 1.2, 1.3).
 */
const METHODS: Readonly<Record<Protocol, readonly string[]>> = {
  json: ["POST"],
  query: ["GET", "POST"],
  "query-json": ["GET", "POST"],
};

const NO_KEYS: KeptKeys = new Map();

/** Amazon SQS as the AWS endpoint calls it. */
export interface SqsService {
  /**
   * Answers a request on any path below the endpoint that an SDK is given (spec sqs 1). Errors are answered in the
   * protocol of the request. A failure of ours is `InternalFailure`, with the reason in the log only.
   *
   * @param keepAlive keeps the request from being ended with its client.
   */
  answer(request: AwsRequest, protocol: Protocol, keepAlive: KeepAlive): Promise<AwsAnswer>;
}

/**
 * @param prefix of the AWS endpoint: queues' URLs have it where the request's URL does.
 * @param address makes the URLs of queues.
 */
export function sqsService(
  prefix: string,
  address: PublicAddress,
  ports: SqsPorts,
  settings: SqsSettings,
  access: AwsAccess,
): SqsService {
  const known = new KnownQueues();
  const calls = new QueueCalls(ports.queue, ports.now, ports.isLocal);

  /** Refuses other HTTP methods than the protocol's, and pages of other sites. Throws `AwsError`. */
  function checkSender(request: AwsRequest, protocol: Protocol): void {
    if (!METHODS[protocol].includes(request.method)) {
      throw refuse(COMMON_ERRORS.unknownOperation, `There is no operation with ${request.method}.`);
    }
    refusePage(request, access, SQS_EFFECTS);
  }

  /** Identifies the caller of a request. Throws `ThrottledError` above the rate of its token. */
  async function admit(request: AwsRequest): Promise<Caller> {
    const { home } = settings;
    const kept = access.kind === "keys" ? await ports.authority.accessKeys() : NO_KEYS;
    const caller = await callerOf(request, { service: "sqs", access, home, nowMs: ports.now(), kept });
    const afterSeconds = caller.token === null ? 0 : ports.authority.take(caller.token);
    if (afterSeconds > 0) throw new ThrottledError(SQS_ERRORS.requestThrottled, afterSeconds);
    return caller;
  }

  /** Begins the action of a request. */
  function begin(
    request: AwsRequest,
    protocol: Protocol,
    text: string,
    caller: Caller,
    waiting: Pick<SqsContext, "keepAlive" | "noteWait">,
  ): { readonly call: Call; readonly context: SqsContext; readonly output: Promise<object | undefined> } {
    const { url } = request;
    const base = endpointPath(url.pathname, prefix);
    const path = url.pathname.slice(base.length);
    const call = readCall(request, SQS_MODEL, { protocol, text });
    const isAtQueue = path !== "" && path !== "/";
    if (isAtQueue && protocol !== "json" && QUEUELESS_ACTIONS.includes(call.action)) {
      throw refuse(COMMON_ERRORS.invalidAction, `The action ${call.action} is not valid for this endpoint.`);
    }
    const action = actionNamed(SQS_HANDLERS, call.action);
    if (needRefusal(caller.rights, action.need) !== null) {
      const anyQueue = arnOf({ region: caller.region, account: caller.account, name: "*" });
      throw accessDenied(caller, `sqs:${call.action.toLowerCase()}`, anyQueue);
    }
    const { keepAlive, noteWait } = waiting;
    const context: SqsContext = {
      ports,
      settings,
      known,
      calls,
      keepAlive,
      noteWait,
      action: call.action,
      change: new Change(),
      caller,
      endpoint: address.urlOf(request, base),
      isQuery: protocol !== "json",
      text,
      path,
      client: request.client,
      traceHeader: traceHeaderOf(request.headers),
      trace: traceOfRequest(request.headers),
    };
    return { call, context, output: action.run(context, call.input) };
  }

  function failureOf(error: unknown, protocol: Protocol, requestId: string): ResponseParts {
    if (error instanceof AwsError) return errorAnswerOf(SQS_MODEL, protocol, error, requestId);
    // The queue was deleted after the directory was asked, or while a receive waited.
    if (isQueueNotFound(error)) {
      const gone = queueDoesNotExist({ isQuery: protocol !== "json" });
      return errorAnswerOf(SQS_MODEL, protocol, gone, requestId);
    }
    return errorAnswerOf(SQS_MODEL, protocol, brokerFailure("SQS", requestId, error), requestId);
  }

  return {
    answer: async (request, protocol, keepAlive) => {
      const requestId = crypto.randomUUID();
      let hasWaited = false;
      const noteWait = () => {
        hasWaited = true;
      };
      try {
        checkSender(request, protocol);
        const caller = await admit(request);
        const text = await request.readText();
        const { call, context, output } = begin(request, protocol, text, caller, { keepAlive, noteWait });
        const answer = answerOf(SQS_MODEL, call, (await output) ?? {}, requestId);
        const { need } = actionNamed(SQS_HANDLERS, call.action);
        if (need.audit !== undefined) await context.change.note(ports.audit, need, "sqs", context.caller);
        return { ...answer, hasWaited };
      } catch (error) {
        const failure = failureOf(error, protocol, requestId);
        return { ...failure, headers: { ...failure.headers, ...headersOfFailure(error) }, hasWaited };
      }
    },
  };
}
