import { type KeepAlive, LASTING } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import type { Access } from "./access.ts";
import { failure } from "./admin/failure.ts";
import { metricsRoutes } from "./admin/metrics/routes.ts";
import { adminRoutes } from "./admin/routes.ts";
import type { AwsAccess } from "./aws-caller.ts";
import { answerAws, respondAws } from "./aws-endpoint.ts";
import { isAwsCall, isBelow } from "./aws-path.ts";
import type { AwsAnswer, ReadAwsRequest } from "./aws-request.ts";
import { cloudflareRoutes } from "./cloudflare/routes.ts";
import { DASHBOARD_HEADERS, DASHBOARD_PAGE } from "./dashboard/page.ts";
import { ACCOUNT_DEFAULT, REGION_DEFAULT } from "./queue-address.ts";
import type { QueueDirectory } from "./queue-directory.ts";
import { LazyUrl } from "./request-url.ts";
import { snsService } from "./sns/routes.ts";
import type { SqsSettings } from "./sqs/context.ts";
import { sqsService } from "./sqs/routes.ts";

export type { Access } from "./access.ts";
export { CLOCK_ADVANCE_MS_MAX } from "./admin/clock-routes.ts";
export type { QueueView } from "./admin/queue-view.ts";
export type { TopicDetail, TopicView } from "./admin/topic-view.ts";
export type { AwsAccess } from "./aws-caller.ts";
export { type BindingTarget, createBindingApp } from "./binding/binding-app.ts";
export { FrameServer } from "./frames/frame-server.ts";
export { refusedHost, refusedOrigin } from "./page-origin.ts";
export { ACCOUNT_DEFAULT, REGION_DEFAULT } from "./queue-address.ts";
export type { AccountDirectory, QueueDirectory } from "./queue-directory.ts";
export type { SqsSettings } from "./sqs/context.ts";

/**
 * Everything of ours lives under this path, so that it can share a port with a user's Worker. Where there is none, AWS's clients are
 * answered at the root too.
 */
export const PREFIX = "/__sluice";

/** What the AWS endpoint goes by. */
export interface AwsOptions {
  readonly access: AwsAccess;
  readonly settings: SqsSettings;
}

const NO_AWS: AwsOptions = {
  access: { kind: "closed", reason: "This broker has no AWS endpoint." },
  settings: { home: { region: REGION_DEFAULT, account: ACCOUNT_DEFAULT }, isStrictAboutTime: false },
};

/** The HTTP side of the broker as a Worker's `fetch` handler and a test call it. */
export interface Gateway {
  /** Answers a request to the AWS endpoint that was read elsewhere (`frames/`). Never rejects. */
  answer(request: ReadAwsRequest): Promise<AwsAnswer>;
  fetch(request: Request, env?: object, ctx?: Pick<ExecutionContext, "waitUntil">): Promise<Response>;
  /** `fetch` for a URL. */
  request(url: string, init?: RequestInit): Promise<Response>;
}

/** The HTTP side of the broker: every dialect and the admin API, each under its own path below `PREFIX`. */
export function createGateway(directory: QueueDirectory, access: Access, aws: AwsOptions = NO_AWS): Gateway {
  const app = new Hono();
  app.get(`${PREFIX}/health`, async (c) => {
    try {
      return c.json({ status: "ok", queues: (await directory.account.list()).length });
    } catch (error) {
      return c.json({ status: "failing", error: `the directory does not answer: ${error}` }, 503);
    }
  });
  app.get(PREFIX, (c) => c.redirect(`${PREFIX}/`));
  app.get(`${PREFIX}/`, (c) => c.html(DASHBOARD_PAGE, 200, DASHBOARD_HEADERS));
  app.route(`${PREFIX}/api`, adminRoutes(directory, access));
  app.route(`${PREFIX}/metrics`, metricsRoutes(directory, access));
  app.route(`${PREFIX}/client/v4`, cloudflareRoutes(directory, access));
  const { account, topics, queue, topic } = directory;
  const prefix = `${PREFIX}/aws`;
  const now = () => Date.now();
  const sns = snsService(prefix, { topics, topic, queue, now }, aws.settings.home, aws.access);
  const pem = `${prefix}/:name{SimpleNotificationService-[0-9a-f]+\\.pem}`;
  app.get(pem, (c) => sns.certificate(c.req.param("name") ?? ""));
  const services = { sqs: sqsService(prefix, { account, queue, now }, aws.settings, aws.access), sns };
  const looks = aws.settings.looksForClients === true;
  app.all(`${prefix}/*`, (c) => respondAws(c.req.raw, keepAliveOf(c), services, looks));
  app.get("*", (c) =>
    isAwsAtRoot(c.req.raw) ? respondAws(c.req.raw, keepAliveOf(c), services, looks) : c.notFound(),
  );
  app.notFound((c) => c.json(failure("no_route", `Nothing answers ${c.req.method} ${c.req.path}.`), 404));
  app.onError((error, c) => failed(c.req.method, c.req.path, error));
  const fetch: Gateway["fetch"] = async (request, env, ctx) => {
    // Messages of SQS come one by one by the thousands: to find their route costs as much as to read them.
    const isAws =
      request.method === "POST" &&
      (isBelow(new LazyUrl(request.url).pathname, prefix) || isAwsAtRoot(request));
    if (!isAws) return app.fetch(request, env, ctx as ExecutionContext | undefined);
    return respondAws(request, keepAliveBy(ctx), services, looks).catch((error) =>
      failed(request.method, new LazyUrl(request.url).pathname, error),
    );
  };
  const answer: Gateway["answer"] = (request) => {
    const fail = (error: unknown) => {
      logFailure(request.method, request.url.pathname, error);
      const headers = { "content-type": "application/json" };
      return { status: 500, headers, body: JSON.stringify(INTERNAL_ERROR) };
    };
    try {
      return answerAws(request, LASTING, services).catch(fail);
    } catch (error) {
      return Promise.resolve(fail(error));
    }
  };
  return { answer, fetch, request: (url, init) => fetch(new Request(url, init)) };
}

const INTERNAL_ERROR = failure("internal_error", "The broker failed; its log says why.");

function failed(method: string, path: string, error: unknown): Response {
  logFailure(method, path, error);
  return Response.json(INTERNAL_ERROR, { status: 500 });
}

function logFailure(method: string, path: string, error: unknown): void {
  console.error(`${method} ${path} failed: ${error instanceof Error ? error.stack : error}`);
}

function isAwsAtRoot({ method, url, headers }: Request): boolean {
  const { pathname, search } = new LazyUrl(url);
  return !isBelow(pathname, PREFIX) && isAwsCall(method, search, headers);
}

/** Outside of Workers nothing ends a request with its client. */
function keepAliveBy(ctx: Pick<ExecutionContext, "waitUntil"> | undefined): KeepAlive {
  return ctx === undefined ? () => {} : (promise) => ctx.waitUntil(promise);
}

function keepAliveOf(c: Context): KeepAlive {
  try {
    return keepAliveBy(c.executionCtx);
  } catch {
    return keepAliveBy(undefined);
  }
}
