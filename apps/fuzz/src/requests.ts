import fc from "fast-check";
import { formPairs } from "./form.ts";
import { INPUTS } from "./inputs.ts";
import { filledIn, fillText, type Known } from "./placeholders.ts";
import { hostileText, queueUrl } from "./values.ts";

/** Damage to the bytes of a body before it is sent. */
export type Damage =
  | { readonly kind: "none" }
  | { readonly kind: "cut"; readonly at: number }
  | { readonly kind: "insert"; readonly at: number; readonly bytes: readonly number[] }
  /** Adds a first member with many levels. */
  | { readonly kind: "deepen"; readonly levels: number };

/** Request for an action of SQS. */
export interface ActionRequest {
  readonly kind: "action";
  readonly protocol: "json" | "query";
  readonly action: string;
  readonly input: object;
  /** Queue's URL to which it goes; "" and anything else is the endpoint. */
  readonly path: unknown;
  /** With GET, the parameters of the Query protocol are in the URL. AWS JSON is always sent by POST. */
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly damage: Damage;
}

/** Any HTTP request. */
export interface RawRequest {
  readonly kind: "raw";
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type FuzzRequest = ActionRequest | RawRequest;

const bytes = fc.oneof(
  fc.constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80], [0], [0xef, 0xbb, 0xbf]),
  fc
    .constantFrom("%", "%zz", "%ff", "&", "=", "&&=&", ";", "+", ".1.", '"', "\\", "{", "]", ",", "\\u0000")
    .map((text) => [...new TextEncoder().encode(text)]),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 6 }),
);
const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Damage>({ kind: "none" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), at: fc.nat({ max: 400 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("insert" as const), at: fc.nat({ max: 400 }), bytes }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("deepen" as const),
      levels: fc.constantFrom(100, 10_000, 200_000),
    }),
  },
);
const credential = fc.oneof(
  fc.constantFrom("AKIA/20260101/us-east-1/sqs/aws4_request", "a/b/c/d/aws4_request", "a/b", "", "////"),
  fc.constantFrom("123456789012/20260101/eu-west-1/sqs/aws4_request", "a/20260101/x:y/sqs/aws4_request"),
);
const authorization = fc
  .tuple(credential, fc.constantFrom("host", "host;x-amz-date", "", ";", "no such;é", "host;host"))
  .map(([from, signed]) => `AWS4-HMAC-SHA256 Credential=${from}, SignedHeaders=${signed}, Signature=00`);
const headerText = fc.oneof(
  fc.constantFrom(
    "",
    "x".repeat(8_000),
    "application/json",
    "text/xml",
    "*/*",
    "true",
    "gzip",
    "\u00ff",
    "a; b=c",
  ),
  fc.string({ maxLength: 30 }).map((text) => text.replace(/[^ -~]/g, "")),
);
const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ accept: "application/json" }) },
  {
    weight: 3,
    arbitrary: fc
      .record(
        {
          authorization: fc.oneof(authorization, headerText),
          "x-amz-date": fc.oneof(fc.constantFrom("20260101T000000Z", "99999999T999999Z"), headerText),
          accept: fc.oneof(fc.constant("application/json"), headerText),
          "x-amzn-trace-id": fc.oneof(fc.constant("Root=1-a"), headerText),
          "x-amzn-query-mode": headerText,
          "x-amz-content-sha256": headerText,
          "user-agent": headerText,
        },
        { requiredKeys: [] },
      )
      .map((given): Record<string, string> => ({ ...given })),
  },
);
const path = fc.oneof({ weight: 8, arbitrary: fc.constant("") }, { weight: 1, arbitrary: queueUrl });
const queryOfRaw = fc
  .dictionary(
    fc.constantFrom(
      "Action",
      "QueueUrl",
      "Version",
      "X-Amz-Signature",
      "X-Amz-Credential",
      "X-Amz-Expires",
      "X-Amz-Date",
    ),
    fc.oneof(hostileText, credential, fc.constantFrom(...Object.keys(INPUTS))),
  )
  .map(
    (params) =>
      `?${Object.entries(params)
        .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
        .join("&")}`,
  );

const actionRequest: fc.Arbitrary<FuzzRequest> = fc
  .constantFrom(
    ...Object.keys(INPUTS),
    ...["SendMessage", "SendMessage", "ReceiveMessage", "ReceiveMessage", "CreateQueue"],
  )
  .chain((action) =>
    fc.record({
      kind: fc.constant("action" as const),
      protocol: fc.constantFrom("json" as const, "query" as const),
      action: fc.oneof({ weight: 40, arbitrary: fc.constant(action) }, { weight: 1, arbitrary: hostileText }),
      input: INPUTS[action] ?? fc.object(),
      path,
      method: fc.constantFrom("POST" as const, "POST" as const, "GET" as const),
      headers,
      damage,
    }),
  );
const rawRequest: fc.Arbitrary<FuzzRequest> = fc.record({
  kind: fc.constant("raw" as const),
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"),
  path: fc.oneof(
    fc.constantFrom(
      "",
      "/",
      "//",
      "/%",
      "/%zz",
      "/%00",
      "/000000000000",
      "/000000000000/plain",
      "/queue/a/b/c",
      "/?",
      "?Action",
    ),
    queryOfRaw,
    fc.string({ maxLength: 20 }).map((text) => `/${encodeURI(text.toWellFormed())}`),
  ),
  headers: fc
    .tuple(
      headers,
      fc.constantFrom<Record<string, string>>(
        {},
        { "content-type": "application/x-amz-json-1.0" },
        { "content-type": "application/x-amz-json-1.0; charset=utf-16" },
        { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AmazonSQS.ListQueues" },
        { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSNS.Publish" },
        { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS." },
        { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.__proto__" },
        { "content-type": "application/json", "x-amz-target": "SendMessage" },
        { "content-type": "application/x-www-form-urlencoded" },
        { "content-type": "multipart/form-data; boundary=x" },
        { "content-type": "" },
      ),
    )
    .map(([some, type]) => ({ ...some, ...type })),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .constantFrom("{}", "[]", "null", "1", '"', "{", "Action=SendMessage", "Action=", "<a>&b;</a>", "{}{}")
      .map((text) => new TextEncoder().encode(text)),
  ),
});

/** Generates requests to the AWS endpoint: well-formed, nearly so, or hostile. */
export const anyRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { weight: 12, arbitrary: actionRequest },
  { weight: 1, arbitrary: rawRequest },
);

/** Finds the protocol in which a request has to be answered. */
export function protocolOf(request: FuzzRequest): "json" | "query" {
  if (request.kind === "action") return request.protocol;
  const type = request.headers["content-type"] ?? "";
  const isJson =
    type.startsWith("application/x-amz-json-1.0") ||
    request.headers["x-amz-target"]?.startsWith("AmazonSQS.");
  return isJson ? "json" : "query";
}

/** Makes the HTTP request; `null` for one that no client could send. */
export function toHttp(request: FuzzRequest, known: Known): Request | null {
  try {
    return request.kind === "raw" ? rawToHttp(request, known) : actionToHttp(request, known);
  } catch (error) {
    // Texts that no URL or header can hold are refused before the request is sent.
    if (error instanceof TypeError || error instanceof URIError) return null;
    throw error;
  }
}

function rawToHttp({ method, path, headers, body }: RawRequest, { endpoint }: Known): Request {
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${endpoint}${path}`, { method, headers, ...(hasBody ? { body: body.slice() } : {}) });
}

function actionToHttp(request: ActionRequest, known: Known): Request {
  const { protocol, action, path, method, headers } = request;
  const input = filledIn(request.input, known) as object;
  const url =
    typeof path === "string" && path.includes("{{endpoint}}") ? fillText(path, known) : `${known.endpoint}/`;
  const name = fillText(action, known);
  if (protocol === "json") {
    const type = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${name}` };
    return new Request(url, {
      method: "POST",
      headers: { ...headers, ...type },
      body: damaged(JSON.stringify(input), request.damage),
    });
  }
  const form = new URLSearchParams(formPairs(name, input)).toString();
  if (method === "GET" && form.length < 4_000) return new Request(`${url}?${form}`, { headers });
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return new Request(url, {
    method: "POST",
    headers: { ...headers, ...type },
    body: damaged(form, request.damage),
  });
}

function damaged(text: string, damage: Damage): Uint8Array<ArrayBuffer> {
  const whole = bytesOf(text);
  switch (damage.kind) {
    case "none":
      return whole;
    case "cut":
      return whole.slice(0, damage.at % (whole.length + 1));
    case "insert": {
      const at = damage.at % (whole.length + 1);
      const inserted = new Uint8Array(whole.length + damage.bytes.length);
      inserted.set(whole.slice(0, at));
      inserted.set(damage.bytes, at);
      inserted.set(whole.slice(at), at + damage.bytes.length);
      return inserted;
    }
    case "deepen": {
      const { levels } = damage;
      const deep = `{"Deep":${"[".repeat(levels)}${"]".repeat(levels)}${text === "{}" ? "}" : `,${text.slice(1)}`}`;
      return bytesOf(text.startsWith("{") ? deep : `${"a.".repeat(levels)}=1&${text}`);
    }
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
