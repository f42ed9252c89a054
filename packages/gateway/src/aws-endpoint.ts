import { formField, protocolOf } from "@sluice/aws";
import type { KeepAlive } from "@sluice/protocol";
import { type AwsAnswer, type AwsRequest, HttpAwsRequest, isForm } from "./aws-request.ts";
import type { SnsService } from "./sns/routes.ts";
import { lookingBody } from "./sqs/hand-over.ts";
import { SQS_MODEL } from "./sqs/model.ts";
import type { SqsService } from "./sqs/routes.ts";

export interface AwsServices {
  readonly sqs: SqsService;
  readonly sns: SnsService;
}

/**
 * Answers a request to the endpoint that AWS's SDKs are given: SQS and SNS on one address. Only SQS speaks AWS JSON; in the
 * Query protocol the action and the version of a request say whose it is (spec sns-delivery 9.1).
 *
 * @param keepAlive keeps the request from being ended with its client.
 */
export function answerAws(
  request: AwsRequest,
  keepAlive: KeepAlive,
  { sqs, sns }: AwsServices,
): Promise<AwsAnswer> {
  const protocol = protocolOf(request, SQS_MODEL);
  if (protocol === "json") return sqs.answer(request, protocol, keepAlive);
  const { method, url, headers, text } = request;
  if (method === "GET" || method === "POST") {
    if (url.search !== "" && sns.isFor(url.searchParams)) return sns.answer(request, keepAlive);
    if (method === "POST" && isForm(headers)) {
      const answerForm = (form: string) =>
        sns.isFor({ get: (name) => formField(form, name) })
          ? sns.answer(request, keepAlive)
          : sqs.answer(request, protocol, keepAlive);
      return text === null ? request.readText().then(answerForm) : answerForm(text);
    }
  }
  return sqs.answer(request, protocol, keepAlive);
}

/**
 * The same for a request of the platform's own.
 *
 * @param looksForClients whether who has waited is looked for before it is answered (`sqs/hand-over.ts`).
 */
export async function respondAws(
  raw: Request,
  keepAlive: KeepAlive,
  services: AwsServices,
  looksForClients: boolean,
): Promise<Response> {
  const answer = await answerAws(new HttpAwsRequest(raw), keepAlive, services);
  const { status, headers, body } = answer;
  if (answer.hasWaited !== true || !looksForClients) return new Response(body, { status, headers });
  const looking = lookingBody(body, raw.signal);
  keepAlive(looking.written);
  return new Response(looking.body, { status, headers });
}
