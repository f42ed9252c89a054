import fc from "fast-check";
import type { LocalTarget } from "../local-target.ts";
import { API, Asker } from "./asker.ts";
import type { Shape } from "./shape.ts";

/*
 * Large bodies without a token or a key: each route must answer them with 4xx after a bounded number of bytes and a
 * bounded time, and answer other requests meanwhile.
 */

const TOKEN = "first-admin";
const VARS = { SLUICE_API_TOKENS: TOKEN, SLUICE_AWS_ACCESS_KEYS: "AKIAFUZZ:secret" };
/** Largest chunk of a body, in bytes. */
const CHUNK_BYTES = 16_384;
/** Most bytes that are read of an unsigned form, whose action may need no signature (docs/configuration.md). */
const FORM_BYTES_MAX = 65_536;

/** Request without a token or a key. */
interface Stranger {
  /** Method and path, such as `POST /__sluice/aws/`. */
  readonly route: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Beginning of the body. */
  readonly begin: string;
  /** Text that is repeated after it. */
  readonly piece: string;
  /** Length of the body. */
  readonly bytes: number;
  /** Whether the request has a `content-length`. */
  readonly saysLength: boolean;
}

const FORM = "application/x-www-form-urlencoded";
const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  { "content-type": FORM },
  { "content-type": FORM },
  { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.SendMessage" },
  { "content-type": "application/json" },
  { "content-type": "application/json", accept: "application/json, text/event-stream" },
  { "content-type": "multipart/form-data; boundary=x" },
  {},
  { "content-type": FORM, authorization: "AWS4-HMAC-SHA256 Credential=AKIAFUZZ" },
  {
    "content-type": FORM,
    authorization:
      "AWS4-HMAC-SHA256 Credential=NOBODY/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=0",
    "x-amz-date": "20260101T000000Z",
  },
  { "content-type": "application/json", authorization: "Bearer nobody's" },
  { "content-type": FORM, authorization: "Basic bm9ib2R5Og==" },
);
const begin = fc.constantFrom(
  "",
  "Version=2010-03-31&",
  "Action=ConfirmSubscription&Version=2010-03-31&Token=x&",
  "Action=Unsubscribe&Version=2010-03-31&SubscriptionArn=x&",
  "Action=CreateTopic&Version=2010-03-31&Name=x&",
  "Action=SendMessage&QueueUrl=x&MessageBody=",
  '{"messages":[',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[',
);
const piece = fc.constantFrom(
  "0=&",
  "&",
  "=&",
  "a.1.b.2=x&",
  "%41=%42&",
  "%",
  "x",
  "[",
  '{"a":',
  "{},",
  "\u0000",
);
const bytes = fc.constantFrom(
  100,
  FORM_BYTES_MAX,
  FORM_BYTES_MAX + 1,
  300_000,
  1_000_000,
  4_100_000,
  8_000_000,
);
/** Paths without a route. */
const ELSEWHERE = [
  "/",
  "/mcp",
  "/sse",
  "/messages",
  "/__sluice/mcp",
  "/__sluice/api/mcp",
  "/.well-known/mcp",
];
const METHODS = ["POST", "PUT", "PATCH", "DELETE"];

function strangerOf(routes: readonly string[]): fc.Arbitrary<Stranger> {
  const route = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom("POST /", "POST /__sluice/aws/", "POST /__sluice/aws/0/orders") },
    { weight: 3, arbitrary: fc.constantFrom(...routes) },
  );
  return fc.record({ route, headers, begin, piece, bytes, saysLength: fc.boolean() });
}

/** Lists the paths of all routes, and some without a route, with each method that can have a body. */
export function routesWithBodies(target: LocalTarget): string[] {
  const paths = target.routes.map(({ path }) => path.replaceAll(/:[a-z_]+(\{[^}]*\})?/g, "any"));
  const all = [...paths.map((path) => path.replaceAll("*", "any")), ...ELSEWHERE];
  return [...new Set(all)].flatMap((path) => METHODS.map((method) => `${method} ${path}`));
}

export const bodies: Shape = {
  cases: 600,
  async run(open, { seed, requests }) {
    const target = await open(VARS);
    const asker = new Asker(target);
    try {
      const property = fc.asyncProperty(strangerOf(routesWithBodies(target)), async (stranger) => {
        const [, path = ""] = stranger.route.split(" ");
        const { init, read } = bodyOf(stranger);
        const [{ status }] = await Promise.all([asker.ask(path, init), asker.must("/__sluice/health")]);
        if (status < 400) throw new Error(`${stranger.route} lets a stranger in: status ${status}`);
        const isForm = !path.startsWith("/__sluice") || path.startsWith("/__sluice/aws");
        const most = isForm ? FORM_BYTES_MAX + CHUNK_BYTES : 0;
        if (read.bytes > most)
          throw new Error(`${read.bytes} bytes are read of a stranger, at most ${most} may be`);
      });
      await fc.assert(property, { seed, numRuns: requests });
      await asker.must(`${API}/queues`, { headers: { authorization: `Bearer ${TOKEN}` } });
    } finally {
      await target.close();
    }
    return asker;
  },
};

/** Makes a request with a body that counts the bytes that are read of it. */
function bodyOf({ route, headers, begin, piece, bytes, saysLength }: Stranger) {
  const [method = ""] = route.split(" ");
  const read = { bytes: 0 };
  const encoder = new TextEncoder();
  const first = encoder.encode(begin);
  const chunk = encoder.encode(piece.repeat(Math.ceil(CHUNK_BYTES / piece.length))).subarray(0, CHUNK_BYTES);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const next = read.bytes === 0 && first.length > 0 ? first : chunk.slice(0, bytes - read.bytes);
        read.bytes += next.length;
        if (next.length > 0) controller.enqueue(next);
        if (read.bytes >= bytes) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const length: Record<string, string> = saysLength ? { "content-length": String(bytes) } : {};
  return { init: { method, headers: { ...headers, ...length }, body, duplex: "half" as const }, read };
}
