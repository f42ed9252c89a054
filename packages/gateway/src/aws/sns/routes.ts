import {
  AwsError,
  answerOf,
  type Call,
  credentialOf,
  errorAnswerOf,
  formatArn,
  partitionOf,
  type RequestHead,
  type ResponseParts,
  readCall,
  UNSIGNED_BYTES_MAX,
} from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import type { NewTopic } from "@sluice/protocol";
import type { PublicAddress, SeenRequest } from "../../http/public-address.ts";
import { traceOfRequest } from "../../http/trace-of-request.ts";
import { needRefusal } from "../../rights/rights.ts";
import { accessDenied, headersOfFailure, ThrottledError } from "../access-denied.ts";
import { actionNamed } from "../action.ts";
import { brokerFailure } from "../broker-failure.ts";
import { type AwsAccess, anonymous, callerOf, hasNoKeys, refusePage } from "../caller.ts";
import { Change } from "../change.ts";
import type { Home } from "../queue-address.ts";
import { type AwsRequest, isForm, parametersIn } from "../request.ts";
import { traceHeaderOf } from "../trace-header.ts";
import { SNS_EFFECTS, SNS_HANDLERS } from "./actions.ts";
import type { SnsContext, SnsPorts } from "./context.ts";
import { inOwnCode, SNS_ERRORS } from "./errors.ts";
import { SNS_ACTIONS, SNS_MODEL, SNS_VERSION, type SnsActionName } from "./model.ts";
import { TopicCalls } from "./publish/topic-calls.ts";
import { homeOfTopic, type RestoredSubscription, restoreSubscription, restoreTopic } from "./restore.ts";
import { Signers } from "./signers.ts";

/** Amazon SNS as the AWS endpoint calls it. */
export interface SnsService {
  /** Whether the parameters of a request say that it is for SNS (spec sns-delivery 9.1). */
  isFor(parameters: Pick<URLSearchParams, "get">): boolean;
  /**
   * Answers a request. Errors are answered as SNS does. A failure of ours is `InternalFailure`, with the reason in the
   * log only.
   *
   * @param keepAlive keeps the request from being ended with its client.
   */
  answer(request: AwsRequest, keepAlive: KeepAlive): Promise<ResponseParts>;
  /** Functions that restore topics of a backup. */
  readonly restoring: TopicRestoring;
  /** Answers with the certificate that signatures are checked with, by the last part of its URL. */
  certificate(fileName: string): Promise<Response>;
}

/** Restores topics and their subscriptions. Throws `AwsError` for those that cannot exist. */
export interface TopicRestoring {
  /**
   * @param request links in messages lead to the address at which its client reaches the broker.
   * @returns whether it was created.
   */
  topic(request: SeenRequest, topic: NewTopic): Promise<boolean>;
  subscription(
    request: SeenRequest,
    subscription: RestoredSubscription,
  ): ReturnType<typeof restoreSubscription>;
}

/** Name of the actor of a restore, for SNS. The audit log gets the real one from the admin API. */
const RESTORER = "backup";

/** Actions of both services. */
const SQS_TOO = ["AddPermission", "RemovePermission"];

/**
 * @param prefix of the AWS endpoint: URLs in messages have it.
 * @param address makes the URLs in messages.
 */
export function snsService(
  prefix: string,
  address: PublicAddress,
  ports: SnsPorts,
  home: Home,
  access: AwsAccess,
): SnsService {
  const signers = new Signers();
  const calls = new TopicCalls(ports);

  const endpointFor = (request: SeenRequest) => address.urlOf(request, prefix);
  const contextOfRestorer = (request: SeenRequest, topicArn: string): SnsContext => ({
    ports,
    home,
    signers,
    calls,
    isSigned: true,
    traceHeader: null,
    trace: null,
    caller: anonymous(homeOfTopic(topicArn), RESTORER),
    change: new Change(),
    endpoint: endpointFor(request),
    keepAlive: () => {},
  });

  async function outputOf(
    request: AwsRequest,
    requestId: string,
    keepAlive: KeepAlive,
  ): Promise<ResponseParts> {
    refusePage(request, access, SNS_EFFECTS);
    const isSigned = hasSignature(request);
    const kept = access.kind === "keys" ? await ports.authority.accessKeys() : new Map<string, never>();
    const asksForKeys = access.kind === "keys" && !hasNoKeys(access, kept);
    const tokenCall = asksForKeys && !isSigned ? await callByToken(request) : null;
    const caller =
      tokenCall === null
        ? await callerOf(request, { service: "sns", access, home, nowMs: ports.now(), kept })
        : anonymous(home);
    const afterSeconds = caller.token === null ? 0 : ports.authority.take(caller.token);
    if (afterSeconds > 0) throw new ThrottledError(SNS_ERRORS.throttled, afterSeconds);
    await request.readBytes();
    const call = tokenCall ?? readCall(request, SNS_MODEL);
    const context: SnsContext = {
      ports,
      home,
      caller,
      isSigned,
      signers,
      calls,
      keepAlive,
      change: new Change(),
      endpoint: endpointFor(request),
      traceHeader: traceHeaderOf(request.headers),
      trace: traceOfRequest(request.headers),
    };
    const { run, need } = actionNamed(SNS_HANDLERS, call.action);
    if (needRefusal(caller.rights, need) !== null) {
      const { region, account } = caller;
      const anyTopic = formatArn({
        partition: partitionOf(region),
        service: "sns",
        region,
        account,
        resource: "*",
      });
      throw accessDenied(caller, `SNS:${call.action}`, subjectOf({ ...call.input }) ?? anyTopic);
    }
    const output = (await run(context, call.input)) ?? {};
    if (need.audit !== undefined) {
      context.change.name(subjectOf({ ...call.input, ...output }));
      await context.change.note(ports.audit, need, "sns", caller);
    }
    return answerOf(SNS_MODEL, call, output, requestId);
  }

  return {
    isFor: (parameters) => {
      const version = parameters.get("Version");
      if (version !== null) return version === SNS_VERSION;
      // Links in messages name no version. Then an action of both services is taken for SQS's.
      const action = parameters.get("Action") ?? "";
      return Object.hasOwn(SNS_ACTIONS, action) && !SQS_TOO.includes(action);
    },
    answer: async (request, keepAlive) => {
      const requestId = crypto.randomUUID();
      try {
        return await outputOf(request, requestId, keepAlive);
      } catch (error) {
        if (error instanceof AwsError) {
          const answer = errorAnswerOf(SNS_MODEL, "query", inOwnCode(error), requestId);
          return { ...answer, headers: { ...answer.headers, ...headersOfFailure(error) } };
        }
        return errorAnswerOf(SNS_MODEL, "query", brokerFailure("SNS", requestId, error), requestId);
      }
    },
    restoring: {
      topic: async (request, topic) => restoreTopic(contextOfRestorer(request, topic.arn), topic),
      subscription: async (request, subscription) =>
        restoreSubscription(contextOfRestorer(request, subscription.topicArn), subscription),
    },
    certificate: async (fileName) => {
      const pem = await signers.certificate(ports.topics, fileName);
      if (pem === null) return new Response("There is no such certificate.\n", { status: 404 });
      return new Response(pem, { headers: { "content-type": "application/x-pem-file" } });
    },
  };
}

/** Finds the ARN in the input or the output of an action; `undefined` where there is none. */
function subjectOf({ SubscriptionArn, TopicArn, ResourceArn }: Readonly<Record<string, unknown>>) {
  const isArn = (text: unknown): text is string => typeof text === "string" && text.startsWith("arn:");
  return [SubscriptionArn, TopicArn, ResourceArn].find(isArn);
}

/**
 * Reads the call of a request without a signature if its action needs none, as with links in messages; `null` for any
 * other request, of which only the name of the action is read.
 *
 * @throws AwsError `RequestEntityTooLarge` for a body of more than `UNSIGNED_BYTES_MAX` bytes.
 */
async function callByToken(request: AwsRequest): Promise<Call | null> {
  const { url, method, headers } = request;
  const form = method === "POST" && isForm(headers) ? await request.readText(UNSIGNED_BYTES_MAX) : "";
  if (!isByToken(url.searchParams.get("Action") ?? parametersIn(form).get("Action"))) return null;
  await request.readBytes(UNSIGNED_BYTES_MAX);
  const call = readCall(request, SNS_MODEL);
  // A form can name several actions, and spell them in several ways: the one of the call counts.
  return isByToken(call.action) ? call : null;
}

function isByToken(action: string | null): boolean {
  return action !== null && SNS_EFFECTS[action as SnsActionName] === "byToken";
}

function hasSignature(request: RequestHead): boolean {
  try {
    return credentialOf(request) !== null;
  } catch {
    return false;
  }
}
