import { protocolOf } from "@sluice/aws";
import type { KeepAlive } from "@sluice/coalesce";
import { type AwsAnswer, type AwsRequest, isForm } from "./request.ts";
import type { SnsService } from "./sns/routes.ts";
import { lookingBody } from "./sqs/client-disconnect.ts";
import { SQS_MODEL } from "./sqs/model.ts";
import type { SqsService } from "./sqs/routes.ts";

export interface AwsServices {
  readonly sqs: SqsService;
  readonly sns: SnsService;
}

/**
 * Answers a request to the endpoint that AWS's SDKs are given: SQS and SNS on one address. Only SQS speaks AWS JSON; in
 * the Query protocol the action and the version of a request say whose it is (spec sns-delivery 9.1).
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
  const { method, url, headers } = request;
  if (method === "GET" || method === "POST") {
    if (url.search !== "" && sns.isFor(url.searchParams)) return sns.answer(request, keepAlive);
    if (method === "POST" && isForm(headers)) {
      return request
        .readText()
        .then((form) =>
          sns.isFor(parametersIn(form))
            ? sns.answer(request, keepAlive)
            : sqs.answer(request, protocol, keepAlive),
        );
    }
  }
  return sqs.answer(request, protocol, keepAlive);
}

/**
 * The parameters of a form that tell whose it is. Only these are read before the caller is known: a large form can have
 * too many keys for the memory.
 */
function parametersIn(form: string): Pick<URLSearchParams, "get"> {
  return {
    get: (name) => {
      const field = new RegExp(`(?:^|&)(${name}=[^&]*)`).exec(form)?.[1];
      return field === undefined ? null : new URLSearchParams(field).get(name);
    },
  };
}

/**
 * `answerAws` as a `Response` of the platform.
 *
 * @param looksForClients whether a client that has waited is checked before it is answered
 * (`sqs/client-disconnect.ts`).
 */
export async function respondAws(
  request: AwsRequest,
  keepAlive: KeepAlive,
  services: AwsServices,
  looksForClients: boolean,
): Promise<Response> {
  const answer = await answerAws(request, keepAlive, services);
  const { status, headers, body } = answer;
  // On a busy machine the end of the connection can have come in together with the messages: let it be seen first.
  if (answer.hasWaited === true) await new Promise((resolve) => setTimeout(resolve, 0));
  if (answer.hasWaited !== true || !looksForClients) return new Response(body, { status, headers });
  const looking = lookingBody(body, request.client);
  keepAlive(looking.written);
  return new Response(looking.body, { status, headers });
}
