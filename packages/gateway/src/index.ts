import { ACCOUNT_DEFAULT } from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import type { PublicAddressSetting } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import { en } from "zod/locales";
import * as z from "zod/mini";
import { type Health, healthOf, localstackHealth } from "./account/health.ts";
import type { QueueDirectory } from "./account/queue-directory.ts";
import { Waits } from "./account/waits.ts";
import { failure } from "./admin/failure.ts";
import { mcpRoutes } from "./admin/mcp/mcp-routes.ts";
import { metricsRoutes } from "./admin/metrics/routes.ts";
import { adminRoutes } from "./admin/routes.ts";
import type { AwsAccess } from "./aws/caller.ts";
import { respondAws } from "./aws/endpoint.ts";
import { isAwsCall, isBelow } from "./aws/path.ts";
import { REGION_DEFAULT } from "./aws/queue-address.ts";
import { AwsRequest } from "./aws/request.ts";
import { snsService } from "./aws/sns/routes.ts";
import type { SqsSettings } from "./aws/sqs/context.ts";
import { restoredSqs } from "./aws/sqs/queue/restore.ts";
import { sqsService } from "./aws/sqs/routes.ts";
import { cloudflareRoutes } from "./cloudflare/routes.ts";
import type { Access } from "./http/access.ts";
import { PREFIX } from "./http/prefix.ts";
import { PublicAddress } from "./http/public-address.ts";
import { pageRoutes } from "./page/page-routes.ts";
import { Authority } from "./rights/authority.ts";

export type {
  AccountDirectory,
  BrokerClock,
  ComingMoment,
  QueueDirectory,
  ShardReport,
} from "./account/queue-directory.ts";
export type { AwsAccess } from "./aws/caller.ts";
export { REGION_DEFAULT } from "./aws/queue-address.ts";
export { createBindingApp } from "./binding/binding-app.ts";
export type { Access } from "./http/access.ts";
export { refusedPage } from "./http/page-origin.ts";
export { PREFIX } from "./http/prefix.ts";

// zod/mini is a third of zod, and comes without texts for faults.
z.config(en());

/** Options of the AWS endpoint. */
export interface AwsOptions {
  readonly access: AwsAccess;
  readonly settings: SqsSettings;
  /** Address at which clients reach the broker. Default: that of each request. */
  readonly publicAddress?: PublicAddressSetting;
}

const NO_AWS: AwsOptions = {
  access: { kind: "closed", reason: "This broker has no AWS endpoint." },
  settings: { home: { region: REGION_DEFAULT, account: ACCOUNT_DEFAULT }, isStrictAboutTime: false },
};

/** The HTTP side of the broker as a Worker's `fetch` handler and a test call it. */
export interface Gateway {
  fetch(request: Request, env?: object, ctx?: Pick<ExecutionContext, "waitUntil">): Promise<Response>;
  /** `fetch` for a URL. */
  request(url: string, init?: RequestInit): Promise<Response>;
  /** Whether AWS's clients have to sign, so that little is read of a request without a signature. */
  readonly asksForSignatures: boolean;
  /** All routes. Paths can have parameters: `/__sluice/api/queues/:name`. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/**
 * Makes the HTTP side of the broker: every dialect and the admin API, each under its own path below `PREFIX`.
 *
 * @param page the page at `/__sluice/` as an archive; `null` for a broker that was built without it.
 */
export function createGateway(
  directory: QueueDirectory,
  access: Access,
  aws: AwsOptions = NO_AWS,
  page: Uint8Array | ArrayBuffer | null = null,
): Gateway {
  const app = new Hono();
  const waits = new Waits();
  const authority = new Authority(access, directory.tokens, () => Date.now());
  const health = healthOf(directory.account, () => Date.now());
  const { account, audit, topics, queue, topic } = directory;
  const prefix = `${PREFIX}/aws`;
  const now = () => Date.now();
  const address = new PublicAddress(aws.publicAddress ?? null);
  const sns = snsService(
    prefix,
    address,
    { topics, audit, authority, topic, queue, now },
    aws.settings.home,
    aws.access,
  );
  const statusOf = ({ status }: Health) => (status === "ok" ? 200 : 503);
  app.get(`${PREFIX}/health`, async (c) => {
    const answer = await health();
    return c.json(answer, statusOf(answer));
  });
  app.get("/_localstack/health", async (c) => {
    const answer = await health();
    return c.body(localstackHealth(answer), statusOf(answer), { "content-type": "application/json" });
  });
  // Relative: a proxy may have removed a path.
  app.get(PREFIX, (c) => c.redirect(`${PREFIX.slice(1)}/`));
  app.route(`${PREFIX}/`, pageRoutes(page));
  app.route(
    `${PREFIX}/api`,
    adminRoutes(directory, authority, waits, { ...sns.restoring, sqs: restoredSqs }),
  );
  app.route(
    `${PREFIX}/mcp`,
    mcpRoutes({ directory, authority, fetchApi: async (asked) => app.fetch(asked) }),
  );
  app.route(`${PREFIX}/metrics`, metricsRoutes(directory, authority));
  app.route(`${PREFIX}/client/v4`, cloudflareRoutes(directory, authority));
  const pem = `${prefix}/:name{SimpleNotificationService-[0-9a-f]+\\.pem}`;
  app.get(pem, (c) => sns.certificate(c.req.param("name") ?? ""));
  const ports = { account, audit, authority, queue, now, waits, isLocal: directory.isLocal };
  const sqs = sqsService(prefix, address, ports, aws.settings, aws.access);
  const isOpen = aws.access.kind === "open";
  const services = { sqs, sns, isOpen };
  const answering = { looksForClients: aws.settings.looksForClients === true, isLocal: directory.isLocal };
  const respond = (request: Request, keepAlive: KeepAlive, url = new URL(request.url)) =>
    respondAws(new AwsRequest(request, url, address), keepAlive, services, answering);
  app.all(`${prefix}/*`, (c) => respond(c.req.raw, keepAliveOf(c)));
  app.get("*", (c) =>
    isAwsAtRoot(c.req.raw, new URL(c.req.url)) ? respond(c.req.raw, keepAliveOf(c)) : c.notFound(),
  );
  app.notFound((c) => c.json(failure("no_route", `Nothing answers ${c.req.method} ${c.req.path}.`), 404));
  app.onError((error, c) => failed(c.req.method, c.req.path, error));
  const fetch: Gateway["fetch"] = async (request, env, ctx) => {
    // Requests of SQS skip the router: there are thousands, and finding a route takes as long as reading one.
    const url = new URL(request.url);
    address.lookForProxy({ url, headers: request.headers });
    const isAws = request.method === "POST" && (isBelow(url.pathname, prefix) || isAwsAtRoot(request, url));
    if (!isAws) return app.fetch(request, env, ctx as ExecutionContext | undefined);
    return respond(request, keepAliveBy(ctx), url).catch((error) =>
      failed(request.method, url.pathname, error),
    );
  };
  const request: Gateway["request"] = (url, init) => fetch(new Request(url, init));
  return { fetch, request, asksForSignatures: !isOpen, routes: app.routes };
}

const INTERNAL_ERROR = failure("internal_error", "The broker failed; its log says why.");

function failed(method: string, path: string, error: unknown): Response {
  logFailure(method, path, error);
  return Response.json(INTERNAL_ERROR, { status: 500 });
}

function logFailure(method: string, path: string, error: unknown): void {
  console.error(`${method} ${path} failed: ${error instanceof Error ? error.stack : error}`);
}

function isAwsAtRoot({ method, headers }: Request, { pathname, search }: URL): boolean {
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
