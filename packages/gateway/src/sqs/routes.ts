import {
  type Answer,
  AwsError,
  answerOf,
  type Call,
  COMMON_ERRORS,
  errorAnswerOf,
  type FormNode,
  type Protocol,
  REQUEST_BYTES_MAX,
  type RequestHeaders,
  readCall,
} from "@sluice/aws";
import { isQueueNotFound, type KeepAlive } from "@sluice/protocol";
import { type AwsAccess, callerOf, refusedPage } from "../aws-caller.ts";
import { endpointPath } from "../aws-path.ts";
import type { AwsAnswer, AwsRequest } from "../aws-request.ts";
import { brokerFailure } from "../broker-failure.ts";
import { randomUuid } from "../random-uuid.ts";
import { handle, QUEUELESS_ACTIONS } from "./actions.ts";
import { queueDoesNotExist, type SqsContext, type SqsPorts, type SqsSettings } from "./context.ts";
import { refuse } from "./errors.ts";
import { KnownQueues } from "./known-queues.ts";
import { isTraceHeader } from "./message/message-attributes.ts";
import { SQS_MODEL } from "./model.ts";
import { QueueCalls } from "./queue-calls.ts";

/** Others are no operation: a HEAD must carry nothing out, though it looks like a GET. */
const METHODS: readonly string[] = ["GET", "POST"];

/** Amazon SQS as the AWS endpoint calls it. */
export interface SqsService {
  /**
   * Answers a request on any path below the endpoint that an SDK is given (spec sqs 1). Whatever goes wrong is answered in the
   * protocol of the request; what is our fault as `InternalFailure`, with the reason in the log only.
   *
   * @param keepAlive keeps the request from being ended with its client.
   * @param form all parameters of a Query request, if somebody has read them.
   */
  answer(request: AwsRequest, protocol: Protocol, keepAlive: KeepAlive, form?: FormNode): Promise<AwsAnswer>;
}

/** @param prefix of the AWS endpoint: the URLs of queues begin with it for those who ask below it. */
export function sqsService(
  prefix: string,
  ports: SqsPorts,
  settings: SqsSettings,
  access: AwsAccess,
): SqsService {
  const known = new KnownQueues();
  const calls = new QueueCalls(ports.queue, ports.now);

  function refuseOthers({ page, method }: AwsRequest): void {
    const refused = refusedPage(page, access);
    if (refused !== null) throw refused;
    if (!METHODS.includes(method)) {
      throw refuse(COMMON_ERRORS.unknownOperation, `There is no operation with ${method}.`);
    }
  }

  /** Begins what a request asks for. */
  function begin(
    request: AwsRequest,
    protocol: Protocol,
    { text, form }: { readonly text: string; readonly form: FormNode | undefined },
    waiting: Pick<SqsContext, "keepAlive" | "arrived" | "noteWait">,
  ): { readonly call: Call; readonly output: Promise<object | undefined> } {
    const { url } = request;
    const caller = callerOf(request, access, settings.home, ports.now());
    const base = endpointPath(url.pathname, prefix);
    const path = url.pathname.slice(base.length);
    const call = readCall(request, SQS_MODEL, { protocol, text, form });
    const isAtQueue = path !== "" && path !== "/";
    if (isAtQueue && protocol !== "json" && QUEUELESS_ACTIONS.includes(call.action)) {
      throw refuse(COMMON_ERRORS.invalidAction, `The action ${call.action} is not valid for this endpoint.`);
    }
    const { keepAlive, arrived, noteWait } = waiting;
    const context: SqsContext = {
      ports,
      settings,
      known,
      calls,
      keepAlive,
      arrived,
      noteWait,
      caller,
      endpoint: `${url.origin}${base}`,
      isQuery: protocol !== "json",
      text,
      path,
      client: request,
      traceHeader: traceHeaderOf(request.headers),
    };
    return { call, output: handle(context, call.action, call.input) };
  }

  function failureOf(error: unknown, protocol: Protocol, requestId: string): Answer {
    if (error instanceof AwsError) return errorAnswerOf(SQS_MODEL, protocol, error, requestId);
    // The directory still knew the queue, its object not any more; or it was deleted while somebody waited for messages.
    if (isQueueNotFound(error)) {
      const gone = queueDoesNotExist({ isQuery: protocol !== "json" });
      return errorAnswerOf(SQS_MODEL, protocol, gone, requestId);
    }
    return errorAnswerOf(SQS_MODEL, protocol, brokerFailure("SQS", requestId, error), requestId);
  }

  return {
    answer: async (request, protocol, keepAlive, form) => {
      const requestId = randomUuid();
      const arrived = calls.arrivals.expect();
      let hasWaited = false;
      const noteWait = () => {
        hasWaited = true;
      };
      try {
        refuseOthers(request);
        const body = bodyOf(request, access);
        const text = typeof body === "string" ? body : await body;
        const { call, output } = begin(request, protocol, { text, form }, { keepAlive, arrived, noteWait });
        const answer = answerOf(SQS_MODEL, call, (await output) ?? {}, requestId);
        return { ...answer, hasWaited };
      } catch (error) {
        return { ...failureOf(error, protocol, requestId), hasWaited };
      } finally {
        arrived();
      }
    },
  };
}

/** What is no trace header is not the message's either: it came on its way, and no sender has put it there. */
function traceHeaderOf(headers: RequestHeaders): string | null {
  const text = headers.get("x-amzn-trace-id");
  return text !== null && text !== "" && isTraceHeader(text) ? text : null;
}

/**
 * The body as text; bytes are needed for nothing but its signature.
 *
 * @throws AwsError `InvalidParameterValue` for a body that is too long.
 */
function bodyOf(request: AwsRequest, access: AwsAccess): string | Promise<string> {
  if (access.kind === "keys") {
    return request.readBytes().then(({ byteLength }) => {
      refuseLong(byteLength);
      return request.readText();
    });
  }
  return request.text === null ? request.readText().then(ofGoodLength) : ofGoodLength(request.text);
}

function ofGoodLength(text: string): string {
  // A character has three bytes at most for each unit of its length.
  refuseLong(3 * text.length <= REQUEST_BYTES_MAX ? 0 : new TextEncoder().encode(text).byteLength);
  return text;
}

function refuseLong(bytes: number): void {
  if (bytes <= REQUEST_BYTES_MAX) return;
  throw refuse(COMMON_ERRORS.invalidParameterValue, `A request can have ${REQUEST_BYTES_MAX} bytes at most.`);
}
