import { AwsError, COMMON_ERRORS, type ErrorKind } from "../aws-error.ts";
import type { RequestHeaders, SignedRequest } from "../signature/credential.ts";
import { type FormNode, readForm } from "./form.ts";
import { jsonOf, readJsonInput } from "./json-protocol.ts";
import { type QueryJsonNames, queryJsonAnswer, queryJsonError } from "./query-json.ts";
import { readQueryInput } from "./query-protocol.ts";
import type { StructureShape, ValueOf } from "./shape.ts";
import { xmlAnswer, xmlElement, xmlError } from "./xml.ts";

/** Protocols of AWS's services, chosen per request (spec sqs 1.1). */
export type Protocol =
  | "json"
  | "query"
  /** The Query protocol for a client that accepts JSON, which has a form of its own. */
  | "query-json";

/** One action of a service, with the shapes of its input and its output; `null` for an action that answers nothing. */
export interface Action {
  readonly input: StructureShape;
  readonly output: StructureShape | null;
}

/** Input of an action. */
export type InputOf<A extends Action> = ValueOf<A["input"]>;
/** Output of an action; `undefined` for one that answers nothing. */
export type OutputOf<A extends Action> = A["output"] extends infer Output extends StructureShape
  ? ValueOf<Output>
  : undefined;

/** A service as the protocols see it. */
export interface ServiceModel {
  /** Prefix of `X-Amz-Target`: `AmazonSQS`. `null` for a service without the JSON protocol. */
  readonly targetPrefix: string | null;
  /** Namespace of its XML. */
  readonly namespace: string;
  readonly actions: Readonly<Record<string, Action>>;
  /** Whether its errors in XML have an empty `Detail`: those of SQS do, those of SNS do not. */
  readonly hasErrorDetail: boolean;
  /** Names of members in the Query protocol's JSON. Without them there is no such JSON: the Query protocol is XML. */
  readonly queryJsonNames?: QueryJsonNames;
}

/** Call that a request makes: an action with its input, in one of the protocols. */
export interface Call {
  readonly protocol: Protocol;
  readonly action: string;
  readonly input: object;
}

/** Largest request body that is read, in bytes: 1 MiB of text, percent-encoded, and some (spec sqs 5.6). */
export const REQUEST_BYTES_MAX = 4_194_304;

/** Largest body of a request without a signature where signatures are asked for, in bytes. */
export const UNSIGNED_BYTES_MAX = 65_536;

/** Makes the error that refuses a request body of more than `bytesMax` bytes. */
export function requestTooLarge(bytesMax: number = REQUEST_BYTES_MAX): AwsError {
  const why = bytesMax === UNSIGNED_BYTES_MAX ? ", the most of a request without a signature" : "";
  const text = `HTTP content length exceeded ${bytesMax} bytes${why}.`;
  return new AwsError(COMMON_ERRORS.requestEntityTooLarge, text);
}

const JSON_TYPE = "application/x-amz-json-1.0";
const decoder = new TextDecoder();

/** Recognises the protocol of a request. Its answer, or its error, is written in the same one. */
export function protocolOf(
  { headers }: { readonly headers: Pick<RequestHeaders, "get"> },
  { targetPrefix, queryJsonNames }: ServiceModel,
): Protocol {
  if (targetPrefix !== null) {
    if (headers.get("x-amz-target")?.startsWith(`${targetPrefix}.`) === true) return "json";
    if (mediaTypeOf(headers) === JSON_TYPE) return "json";
  }
  if (queryJsonNames === undefined) return "query";
  const accepted = headers.get("accept")?.split(/[;,]/)[0]?.trim().toLowerCase();
  return accepted === "application/json" ? "query-json" : "query";
}

/** A media type without parameters in lower case, as most clients write it. */
const PLAIN_MEDIA_TYPE = /^[a-z\d./-]+$/;

/** Media type of a body in lower case, without its parameters; `undefined` where none is named. */
export function mediaTypeOf(headers: Pick<RequestHeaders, "get">): string | undefined {
  const text = headers.get("content-type");
  if (text === null || PLAIN_MEDIA_TYPE.test(text)) return text ?? undefined;
  return text.split(";")[0]?.trim().toLowerCase();
}

/**
 * Reads the call that a request makes. Throws `AwsError`: `InvalidAction` or `UnknownOperation` for an action that the
 * service does not have, `SerializationException` for an input that does not fit.
 *
 * @param known results of earlier reading: the protocol, the body as text.
 */
export function readCall(
  request: SignedRequest,
  model: ServiceModel,
  known: { readonly protocol?: Protocol; readonly text?: string } = {},
): Call {
  const { protocol = protocolOf(request, model), text } = known;
  if (protocol === "json") {
    const target = request.headers.get("x-amz-target") ?? "";
    const action = target.slice(target.indexOf(".") + 1);
    const { input } = actionOf(model, action);
    return { protocol, action, input: readJsonInput(input, text ?? decoder.decode(request.body)) };
  }
  const form = formOf(request, text ?? decoder.decode(request.body));
  const action = form.child("Action")?.text;
  if (action === undefined || action === "") {
    throw new AwsError(COMMON_ERRORS.unknownOperation, "The request names no action.");
  }
  const { input } = actionOf(model, action);
  return { protocol, action, input: readQueryInput(input, form) };
}

function actionOf({ actions }: ServiceModel, name: string): Action {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action;
  throw new AwsError(COMMON_ERRORS.invalidAction, `The action ${name} is not valid for this endpoint.`);
}

/** Reads the parameters of a Query request: those of the URL, and except for a GET those of the form in its body. */
function formOf({ method, url, headers }: SignedRequest, text: string): FormNode {
  const params = url.search === "" ? [] : [...url.searchParams];
  const type = mediaTypeOf(headers) ?? "";
  const isForm = method !== "GET" && (type === "" || type === "application/x-www-form-urlencoded");
  return readForm(isForm ? text : "", params);
}

/** Status, headers and body of an HTTP response. */
export interface ResponseParts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function answerOf(model: ServiceModel, call: Call, output: object, requestId: string): ResponseParts {
  const shape = actionOf(model, call.action).output;
  if (call.protocol === "json") {
    const body = shape === null ? "{}" : jsonOf(shape, output);
    return { status: 200, headers: headersOf("json", requestId), body };
  }
  const result = shape === null ? null : { shape, value: output };
  if (call.protocol === "query-json") {
    const body = queryJsonAnswer(call.action, result, model.queryJsonNames ?? {}, requestId);
    return { status: 200, headers: headersOf("query-json", requestId), body };
  }
  const body = xmlAnswer(call.action, model.namespace, result, requestId);
  return { status: 200, headers: headersOf("query", requestId), body };
}

export function errorAnswerOf(
  model: ServiceModel,
  protocol: Protocol,
  { kind, message }: Pick<AwsError, "kind" | "message">,
  requestId: string,
): ResponseParts {
  if (kind === COMMON_ERRORS.unknownOperation) return unknownOperation(protocol, requestId);
  const { shape, code, status, fault } = kind;
  if (protocol === "json") {
    const headers = { ...headersOf("json", requestId), "x-amzn-query-error": `${code};${fault}` };
    return { status, headers, body: JSON.stringify({ __type: shape, message }) };
  }
  if (protocol === "query-json") {
    const body = queryJsonError({ type: fault, code, message }, requestId);
    return { status, headers: headersOf(protocol, requestId), body };
  }
  const body = xmlError(model, { type: fault, code, message }, requestId);
  return { status, headers: headersOf("query", requestId), body };
}

/** Answers a request without an action; the answer does not say what is wrong (spec sqs 1.1). */
function unknownOperation(protocol: Protocol, requestId: string): ResponseParts {
  const { shape, status }: ErrorKind = COMMON_ERRORS.unknownOperation;
  const body =
    protocol === "json" ? JSON.stringify({ __type: shape }) : xmlElement("UnknownOperationException");
  return { status, headers: headersOf(protocol === "json" ? "json" : "query", requestId), body };
}

const CONTENT_TYPES: Readonly<Record<Protocol, string>> = {
  json: JSON_TYPE,
  query: "text/xml",
  "query-json": "application/json",
};

function headersOf(protocol: Protocol, requestId: string): Record<string, string> {
  return { "content-type": CONTENT_TYPES[protocol], "x-amzn-requestid": requestId };
}
