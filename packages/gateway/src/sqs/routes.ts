import {
  type Answer,
  AwsError,
  answerOf,
  COMMON_ERRORS,
  errorAnswerOf,
  protocolOf,
  REQUEST_BYTES_MAX,
  readCall,
  type SignedRequest,
} from "@sluice/aws";
import { isQueueNotFound } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import { type AwsAccess, callerOf, refusedPage } from "../aws-caller.ts";
import { handle, QUEUELESS_ACTIONS } from "./actions.ts";
import { queueDoesNotExist, type SqsContext, type SqsPorts, type SqsSettings } from "./context.ts";
import { refuse } from "./errors.ts";
import { lookingBody } from "./hand-over.ts";
import { KnownQueues } from "./known-queues.ts";
import { isTraceHeader } from "./message/message-attributes.ts";
import { SQS_MODEL } from "./model.ts";
import { QueueCalls } from "./queue-calls.ts";
import type { KeepAlive } from "./shared-call.ts";

/** Others are no operation: a HEAD must carry nothing out, though it looks like a GET. */
const METHODS: readonly string[] = ["GET", "POST"];

/**
 * Amazon SQS: both protocols on every path below `prefix`, which is the endpoint that an SDK is given (spec sqs 1).
 *
 * Whatever goes wrong is answered in the protocol of the request; what is our fault as `InternalFailure`, with the reason
 * in the log only.
 */
export function sqsRoutes(prefix: string, ports: SqsPorts, settings: SqsSettings, access: AwsAccess): Hono {
  const app = new Hono();
  const known = new KnownQueues();
  const calls = new QueueCalls(ports.queue, ports.now);
  app.all("/*", async (c) => {
    const requestId = crypto.randomUUID();
    const keepAlive = keepAliveOf(c);
    let isLookedFor = false;
    const lookForClient = () => {
      isLookedFor = settings.looksForClients === true;
    };
    const { status, headers, body } = await answer(c.req.raw, requestId, { keepAlive, lookForClient });
    if (!isLookedFor) return new Response(body, { status, headers });
    const looking = lookingBody(body, c.req.raw.signal);
    keepAlive(looking.written);
    return new Response(looking.body, { status, headers });
  });

  async function answer(
    raw: Request,
    requestId: string,
    client: Pick<SqsContext, "keepAlive" | "lookForClient">,
  ): Promise<Answer> {
    const url = new URL(raw.url);
    const bodyless: SignedRequest = { method: raw.method, url, headers: raw.headers, body: new Uint8Array() };
    const protocol = protocolOf(bodyless, SQS_MODEL);
    try {
      const refused = refusedPage(raw, access);
      if (refused !== null) throw refused;
      if (!METHODS.includes(raw.method)) {
        throw refuse(COMMON_ERRORS.unknownOperation, `There is no operation with ${raw.method}.`);
      }
      const { request, text } = await withBody(bodyless, raw, access);
      const caller = callerOf(request, access, settings.home, ports.now());
      const path = url.pathname.slice(prefix.length);
      const call = readCall(request, SQS_MODEL, text);
      const isAtQueue = path !== "" && path !== "/";
      if (isAtQueue && call.protocol !== "json" && QUEUELESS_ACTIONS.includes(call.action)) {
        throw refuse(
          COMMON_ERRORS.invalidAction,
          `The action ${call.action} is not valid for this endpoint.`,
        );
      }
      const context: SqsContext = {
        ports,
        settings,
        known,
        calls,
        ...client,
        caller,
        endpoint: `${url.origin}${prefix}`,
        isQuery: call.protocol !== "json",
        path,
        signal: raw.signal,
        traceHeader: traceHeaderOf(raw.headers),
      };
      const output = await handle(context, call.action, call.input);
      return answerOf(SQS_MODEL, call, output, requestId);
    } catch (error) {
      if (error instanceof AwsError) return errorAnswerOf(SQS_MODEL, protocol, error, requestId);
      // The directory still knew the queue, its object not any more; or it was deleted while somebody waited for messages.
      if (isQueueNotFound(error)) {
        const gone = queueDoesNotExist({ isQuery: protocol !== "json" });
        return errorAnswerOf(SQS_MODEL, protocol, gone, requestId);
      }
      console.error(`SQS request ${requestId} failed: ${error instanceof Error ? error.stack : error}`);
      const failure = new AwsError(COMMON_ERRORS.internalFailure, "The broker failed; its log says why.");
      return errorAnswerOf(SQS_MODEL, protocol, failure, requestId);
    }
  }

  return app;
}

/** What is no trace header is not the message's either: it came on its way, and no sender has put it there. */
function traceHeaderOf(headers: Headers): string | null {
  const text = headers.get("x-amzn-trace-id");
  return text !== null && text !== "" && isTraceHeader(text) ? text : null;
}

/** Outside of Workers nothing ends a request with its client. */
function keepAliveOf(c: Context): KeepAlive {
  try {
    const { executionCtx } = c;
    return (promise) => executionCtx.waitUntil(promise);
  } catch {
    return () => {};
  }
}

/**
 * The request with its body. Bytes are needed for nothing but its signature, and workerd hands out a text for less; of a form
 * it would say each time that it is none.
 *
 * @throws AwsError `InvalidParameterValue` for a body that is too long.
 */
async function withBody(
  bodyless: SignedRequest,
  raw: Request,
  access: AwsAccess,
): Promise<{ readonly request: SignedRequest; readonly text: string | undefined }> {
  if (access.kind === "keys") {
    const body = new Uint8Array(await raw.arrayBuffer());
    refuseLong(body.byteLength);
    return { request: { ...bodyless, body }, text: undefined };
  }
  const isForm = raw.headers.get("content-type")?.includes("form-urlencoded") === true;
  const text = isForm ? new TextDecoder().decode(await raw.arrayBuffer()) : await raw.text();
  // A character has three bytes at most for each unit of its length.
  refuseLong(3 * text.length <= REQUEST_BYTES_MAX ? 0 : new TextEncoder().encode(text).byteLength);
  return { request: bodyless, text };
}

function refuseLong(bytes: number): void {
  if (bytes <= REQUEST_BYTES_MAX) return;
  throw refuse(COMMON_ERRORS.invalidParameterValue, `A request can have ${REQUEST_BYTES_MAX} bytes at most.`);
}
