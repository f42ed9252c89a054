import { FORM_PARAMETERS_MAX, UNSIGNED_BYTES_MAX } from "@sluice/aws";
import { describe, expect, it } from "vitest";
import { directoryOf } from "../test/directory.ts";
import { SNS_EFFECTS } from "./aws/sns/actions.ts";
import { SNS_ACTIONS, SNS_VERSION } from "./aws/sns/model.ts";
import { SQS_MODEL } from "./aws/sqs/model.ts";
import { type AwsAccess, createGateway, type Gateway, type QueueDirectory } from "./index.ts";

/** Costs of requests without credentials to a broker with keys and tokens, before it refuses them: next to nothing. */

const ORIGIN = "https://queues.example.com";
const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/x-amz-json-1.0";
/** Largest piece in which a body comes, in bytes. */
const CHUNK_BYTES = 16_384;
/** Longest that an anonymous request may take here, in ms: a busy machine's. One that is parsed takes many seconds. */
const ANSWER_MS_MAX = 1_000;

/** Calls to objects, but for the list of tokens, which is asked for once in some seconds. */
let objects: string[] = [];

/** The same, with each call noted. */
function noted<Target extends object>(target: Target, name = ""): Target {
  return new Proxy(target, {
    get: (of, key) => {
      const member: unknown = Reflect.get(of, key);
      const path = `${name}${String(key)}`;
      if (typeof member === "object" && member !== null) return noted(member, `${path}.`);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (path !== "tokens.listTokens") objects.push(path);
        return Reflect.apply(member, of, given);
      };
    },
  });
}

function gatewayWith(access: AwsAccess): Gateway {
  const directory: QueueDirectory = noted(directoryOf());
  return createGateway(
    directory,
    { kind: "tokens", tokens: ["first"] },
    {
      access,
      settings: { home: { region: "us-east-1", account: "000000000000" }, isStrictAboutTime: false },
    },
  );
}

const KEYS: AwsAccess = { kind: "keys", secrets: new Map([["AKID", "secret"]]) };
const gateway = gatewayWith(KEYS);

/** A body that never ends and does not say how long it is, and how many bytes of it were taken. */
function endless(begin: string) {
  const read = { bytes: 0 };
  const fields = new TextEncoder().encode("0=&".repeat(CHUNK_BYTES / 3));
  const first = new TextEncoder().encode(`${begin}&`);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const chunk = read.bytes === 0 ? first : fields;
        read.bytes += chunk.byteLength;
        controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, read };
}

/** Measures the cost of a request, and returns its answer. */
async function cost(
  path: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  begin = "",
  asked = gateway,
) {
  objects = [];
  const { body, read } = endless(begin);
  const init = method === "GET" || method === "HEAD" ? {} : { body, duplex: "half" as const };
  const beganAt = performance.now();
  const response = await asked.request(`${ORIGIN}${path}`, { method, headers, ...init });
  const text = await response.text();
  return { status: response.status, text, bytes: read.bytes, objects, ms: performance.now() - beganAt };
}

/** Headers in place of a valid signature: half a one, that of an unknown key, and one that is long past. */
const CREDENTIALS: readonly Record<string, string>[] = [
  {},
  { authorization: "AWS4-HMAC-SHA256 Credential=AKID" },
  ...["NOBODY", "AKID"].map((key) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=${key}/20200101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0`,
    "x-amz-date": "20200101T000000Z",
  })),
  { authorization: "Bearer nobody's", "x-auth-key": "nobody's" },
];

const PARAMETER = /:[a-z_]+(\{[^}]*\})?/g;
const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
/** Every route with each method that can have a body, and as it is. */
const ROUTES = gateway.routes.flatMap(({ method, path }) => {
  const at = path.replaceAll(PARAMETER, "any").replaceAll("*", "any");
  return [...new Set([...METHODS, method === "ALL" ? "GET" : method])].map((each) => `${each} ${at}`);
});
/** Routes that answer anybody: the page, and whether the broker runs. */
const PUBLIC = ["GET /__sluice/", "GET /__sluice", "GET /__sluice/health", "GET /_localstack/health"];

describe("a request without a token", () => {
  it.each([...new Set(ROUTES)])("has no byte of its body read, and asks no object: %s", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    for (const headers of CREDENTIALS) {
      const { status, bytes, objects, ms } = await cost(path, method, headers);
      expect(bytes).toBe(0);
      expect(ms).toBeLessThan(ANSWER_MS_MAX);
      if (PUBLIC.includes(route)) continue;
      expect(status).toBeGreaterThanOrEqual(400);
      expect(objects).toEqual([]);
    }
  });

  it("can be of every route there is", () => {
    expect(ROUTES).toContain("POST /__sluice/api/queues/any/messages");
    expect(ROUTES).toContain("PUT /__sluice/client/v4/accounts/any/queues/any");
    expect(ROUTES.length).toBeGreaterThan(200);
  });
});

/** Every action of both services, with the version of its own. */
const ACTIONS = [
  ...Object.keys(SQS_MODEL.actions).map((action) => ({ action, version: "2012-11-05", isByToken: false })),
  ...Object.keys(SNS_ACTIONS).map((action) => ({
    action,
    version: SNS_VERSION,
    isByToken: SNS_EFFECTS[action as keyof typeof SNS_ACTIONS] === "byToken",
  })),
];

describe("a request to AWS's endpoint without a signature of a key that there is", () => {
  it.each(ACTIONS)("costs next to nothing: $action of $version", async ({ action, version, isByToken }) => {
    const asked = `Action=${action}&Version=${version}`;
    for (const headers of CREDENTIALS) {
      const isUnsigned =
        headers.authorization?.startsWith("AWS4") !== true || !headers.authorization.includes("/");
      for (const path of ["/", "/__sluice/aws/", "/__sluice/aws/000000000000/orders"]) {
        const ways = [
          { way: path, type: JSON_TYPE, begin: "", mayRead: false },
          { way: path, type: FORM, begin: asked, mayRead: isUnsigned },
          { way: `${path}?${asked}`, type: FORM, begin: "", mayRead: isUnsigned },
        ];
        for (const { way, type, begin, mayRead } of ways) {
          const target = type === FORM ? {} : { "x-amz-target": `AmazonSQS.${action}` };
          const sent = { ...headers, "content-type": type, ...target };
          const { status, bytes, objects, ms } = await cost(way, "POST", sent, begin);
          expect([400, 403, 413]).toContain(status);
          expect(bytes).toBeLessThanOrEqual(mayRead ? UNSIGNED_BYTES_MAX + CHUNK_BYTES : 0);
          expect(objects).toEqual([]);
          expect(ms).toBeLessThan(ANSWER_MS_MAX);
        }
        if (isByToken) continue;
        const { status, objects } = await cost(`${path}?${asked}`, "GET", headers);
        expect([400, 403]).toContain(status);
        expect(objects).toEqual([]);
      }
    }
  });

  it.each(["closed", "keys"] as const)("is refused as well by a broker that is closed: %s", async (kind) => {
    const reason = "There are no keys.";
    const none = { kind: "keys", secrets: new Map(), whenNone: reason } as const;
    const closed = gatewayWith(kind === "closed" ? { kind, reason } : none);
    const { status, text, bytes } = await cost(
      "/",
      "POST",
      { "content-type": FORM },
      "Action=ListTopics",
      closed,
    );
    expect([status, text.includes("RequestEntityTooLarge")]).toEqual([413, true]);
    expect(bytes).toBeLessThanOrEqual(UNSIGNED_BYTES_MAX + CHUNK_BYTES);
  });

  const confirm = (bytes: number, begin = `Action=ConfirmSubscription&Version=${SNS_VERSION}&Token=x`) => {
    const body = `${begin}&TopicArn=arn:aws:sns:us-east-1:000000000000:news&x=`.padEnd(bytes, "x");
    objects = [];
    return gateway.request(`${ORIGIN}/`, { method: "POST", headers: { "content-type": FORM }, body });
  };

  it.each([
    [UNSIGNED_BYTES_MAX - 1, 400, "InvalidParameter"],
    [UNSIGNED_BYTES_MAX, 400, "InvalidParameter"],
    [UNSIGNED_BYTES_MAX + 1, 413, "RequestEntityTooLarge"],
  ])("is heard with a body of %i bytes for an action that needs none: %i %s", async (bytes, status, code) => {
    const answer = await confirm(bytes);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(`<Code>${code}</Code>`);
  });

  it("is not begun if it says itself that it is too long", async () => {
    const headers = { "content-type": FORM, "content-length": String(UNSIGNED_BYTES_MAX + 1) };
    const { status, bytes, text } = await cost("/", "POST", headers, "Action=ConfirmSubscription");
    expect([status, bytes]).toEqual([413, 0]);
    expect(text).toContain(
      `exceeded ${UNSIGNED_BYTES_MAX} bytes, the most of a request without a signature.`,
    );
  });

  it.each([
    ["%41ction=CreateTopic&Action=ConfirmSubscription", "403 MissingAuthenticationToken"],
    ["Action=ConfirmSubscription&%41ction=CreateTopic", "400 ValidationError"],
  ])("carries out no action but one that needs no signature: %s", async (begin, refusal) => {
    const answer = await confirm(0, `${begin}&Version=${SNS_VERSION}&Name=news`);
    const code = /<Code>(.*)<\/Code>/.exec(await answer.text())?.[1];
    expect(`${answer.status} ${code}`).toBe(refusal);
    expect(objects).toEqual([]);
  });

  it("names no more parameters than any other", async () => {
    const many = `Action=ConfirmSubscription&Version=${SNS_VERSION}${"&a=".repeat(FORM_PARAMETERS_MAX)}`;
    const answer = await confirm(0, many);
    expect([answer.status, (await answer.text()).includes("MalformedInput")]).toEqual([400, true]);
  });
});
