import { formField, type Protocol, protocolOf, readForm } from "@sluice/aws";
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
      const answer = (form: string) => answerForm(request, protocol, form, keepAlive, { sqs, sns });
      return text === null ? request.readText().then(answer) : answer(text);
    }
  }
  return sqs.answer(request, protocol, keepAlive);
}

/** Longest form that is read before it is known who asks: a larger one can have more keys than memory should hold for anybody. */
const READ_FORM_LENGTH_MAX = 65_536;

/** A form is read once, to see whom it is for and for them, where it is short and all that there is: the URL has no parameters. */
function answerForm(
  request: AwsRequest,
  protocol: Protocol,
  text: string,
  keepAlive: KeepAlive,
  { sqs, sns }: AwsServices,
): Promise<AwsAnswer> {
  const isAll = request.url.search === "" && text.length <= READ_FORM_LENGTH_MAX;
  const form = isAll ? readForm(text) : undefined;
  const get = (name: string) =>
    form === undefined ? formField(text, name) : (form.child(name)?.text ?? null);
  return sns.isFor({ get })
    ? sns.answer(request, keepAlive, form)
    : sqs.answer(request, protocol, keepAlive, form);
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
