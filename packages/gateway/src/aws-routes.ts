import { protocolOf } from "@sluice/aws";
import { Hono } from "hono";
import type { SnsService } from "./sns/routes.ts";
import { SQS_MODEL } from "./sqs/model.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";

/**
 * The endpoint that AWS's SDKs are given: SQS and SNS on one address. Only SQS speaks AWS JSON; in the Query protocol the
 * action and the version of a request say whose it is (spec sns-delivery 9.1).
 */
export function awsRoutes(sqs: Hono, sns: SnsService): Hono {
  const app = new Hono();
  app.get("/:name{SimpleNotificationService-[0-9a-f]+\\.pem}", (c) => sns.certificate(c.req.param("name")));
  app.on(["GET", "POST"], ["/", "/*"], async (c, next) => {
    const { raw } = c.req;
    const url = new URL(raw.url);
    const request = { method: raw.method, url, headers: raw.headers, body: new Uint8Array() };
    if (protocolOf(request, SQS_MODEL) === "json") return next();
    if (sns.isFor(url.searchParams)) return sns.answer(raw, await bytesOf(raw));
    const type = raw.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (raw.method !== "POST" || type !== FORM_TYPE) return next();
    // A copy: what is for SQS has to be read once more.
    const body = await bytesOf(raw.clone());
    const isForSns = sns.isFor(new URLSearchParams(new TextDecoder().decode(body)));
    return isForSns ? sns.answer(raw, body) : next();
  });
  app.route("/", sqs);
  return app;
}

async function bytesOf(raw: Request): Promise<Uint8Array> {
  return new Uint8Array(await raw.arrayBuffer());
}
