import { protocolOf } from "@sluice/aws";
import { AwsRequest } from "./aws-request.ts";
import type { KeepAlive } from "./shared-call.ts";
import type { SnsService } from "./sns/routes.ts";
import { SQS_MODEL } from "./sqs/model.ts";
import type { SqsService } from "./sqs/routes.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";

/**
 * Answers a request to the endpoint that AWS's SDKs are given: SQS and SNS on one address. Only SQS speaks AWS JSON; in the
 * Query protocol the action and the version of a request say whose it is (spec sns-delivery 9.1).
 *
 * @param keepAlive keeps the request from being ended with its client.
 */
export async function answerAws(
  raw: Request,
  keepAlive: KeepAlive,
  { sqs, sns }: { readonly sqs: SqsService; readonly sns: SnsService },
): Promise<Response> {
  const request = new AwsRequest(raw);
  const protocol = protocolOf(request, SQS_MODEL);
  if (protocol === "json") return sqs.answer(request, protocol, keepAlive);
  const { method, url, headers } = request;
  if (method === "GET" || method === "POST") {
    if (url.search !== "" && sns.isFor(url.searchParams))
      return sns.answer(raw, await request.readBytes(), keepAlive);
    const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (method === "POST" && type === FORM_TYPE) {
      const body = await request.readBytes();
      if (sns.isFor(new URLSearchParams(await request.readText()))) return sns.answer(raw, body, keepAlive);
    }
  }
  return sqs.answer(request, protocol, keepAlive);
}
