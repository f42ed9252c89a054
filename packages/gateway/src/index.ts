import { Hono } from "hono";
import type { Access } from "./access.ts";
import { failure } from "./admin/failure.ts";
import { adminRoutes } from "./admin/routes.ts";
import type { AwsAccess } from "./aws-caller.ts";
import { awsRoutes } from "./aws-routes.ts";
import { cloudflareRoutes } from "./cloudflare/routes.ts";
import { DASHBOARD_HEADERS, DASHBOARD_PAGE } from "./dashboard/page.ts";
import { ACCOUNT_DEFAULT, REGION_DEFAULT } from "./queue-address.ts";
import type { QueueDirectory } from "./queue-directory.ts";
import { snsService } from "./sns/routes.ts";
import type { SqsSettings } from "./sqs/context.ts";
import { sqsRoutes } from "./sqs/routes.ts";

export type { Access } from "./access.ts";
export { CLOCK_ADVANCE_MS_MAX } from "./admin/clock-routes.ts";
export type { QueueView } from "./admin/queue-view.ts";
export type { TopicDetail, TopicView } from "./admin/topic-view.ts";
export { type AwsAccess, parseAccessKeys } from "./aws-caller.ts";
export { type BindingTarget, createBindingApp } from "./binding/binding-app.ts";
export { refusedHost, refusedOrigin } from "./page-origin.ts";
export { ACCOUNT_DEFAULT, REGION_DEFAULT } from "./queue-address.ts";
export type { AccountDirectory, QueueDirectory } from "./queue-directory.ts";
export type { SqsSettings } from "./sqs/context.ts";

/** Everything of ours lives under this path, so that it can share a port with a user's Worker. */
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

/** The HTTP side of the broker: every dialect and the admin API, each under its own path below `PREFIX`. */
export function createGateway(directory: QueueDirectory, access: Access, aws: AwsOptions = NO_AWS): Hono {
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
  app.route(`${PREFIX}/client/v4`, cloudflareRoutes(directory, access));
  const { account, topics, queue, topic } = directory;
  const prefix = `${PREFIX}/aws`;
  const now = () => Date.now();
  const sqs = sqsRoutes(prefix, { account, queue, now }, aws.settings, aws.access);
  const sns = snsService(prefix, { topics, topic, queue, now }, aws.settings.home, aws.access);
  app.route(prefix, awsRoutes(sqs, sns));
  app.notFound((c) => c.json(failure("no_route", `Nothing answers ${c.req.method} ${c.req.path}.`), 404));
  app.onError((error, c) => {
    console.error(`${c.req.method} ${c.req.path} failed: ${error.stack ?? error}`);
    return c.json(failure("internal_error", "The broker failed; its log says why."), 500);
  });
  return app;
}
