import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AwsError } from "../aws-error.ts";
import { ALGORITHM, credentialOf, type SignedRequest } from "./credential.ts";
import { signatureClaimOf, signatureOf, verifySignature } from "./signature.ts";

/** Parts of a request that have to be signed, and the words in which other requests are refused (spec sqs 1.5). */

const SECRET = "one/secret";
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const STAMP = "20261121T120000Z";
const SQS = {
  service: "sqs",
  secretOf: (key: string) => (key === "AKID" ? SECRET : undefined),
  nowMs: NOW_MS,
};

interface Draft {
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signedHeaders: readonly string[];
  readonly isPresigned: boolean;
  readonly body: string;
  readonly scope: string;
}

const DRAFT: Draft = {
  params: [],
  headers: { host: "sqs.example", "x-amz-date": STAMP, "x-amz-target": "AmazonSQS.ListQueues" },
  signedHeaders: ["host", "x-amz-date", "x-amz-target"],
  isPresigned: false,
  body: "{}",
  scope: "20261121/us-east-1/sqs/aws4_request",
};

/** The request as it is sent with a signature. */
function requestOf({ params, headers, signedHeaders, isPresigned, body, scope }: Draft, signature: string) {
  const [Credential, SignedHeaders] = [`AKID/${scope}`, signedHeaders.join(";")];
  const signed = {
    Algorithm: ALGORITHM,
    Credential,
    Date: STAMP,
    Expires: "60",
    SignedHeaders,
    Signature: signature,
  };
  const own = isPresigned ? Object.entries(signed).map(([name, value]) => [`X-Amz-${name}`, value]) : [];
  const query = new URLSearchParams([...params.map((param) => [...param]), ...own]);
  const authorization = `${ALGORITHM} Credential=${Credential}, SignedHeaders=${SignedHeaders}, Signature=${signature}`;
  return {
    method: "POST",
    url: new URL(`http://sqs.example/${query.size === 0 ? "" : `?${query}`}`),
    headers: new Headers({ ...headers, ...(isPresigned ? {} : { authorization }) }),
    body: new TextEncoder().encode(body),
  };
}

/** Signed as its client would. */
function signed(changes: Partial<Draft> = {}) {
  const draft = { ...DRAFT, ...changes };
  const unsigned = requestOf(draft, "0");
  const credential = credentialOf(unsigned);
  if (credential === null) throw new Error("a request without a credential");
  return requestOf(draft, signatureOf(unsigned, credential, SECRET));
}

/** `CODE: MESSAGE` of a refusal, `ok` for none. */
function outcomeOf(request: SignedRequest, check = SQS): string {
  try {
    verifySignature(request, signatureClaimOf(request, check));
    return "ok";
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return `${error.kind.code}: ${error.message}`;
  }
}

const NO_MATCH = /^SignatureDoesNotMatch: The request signature we calculated does not match/;

it("a signature covers the host", () => {
  expect(outcomeOf(signed({ signedHeaders: ["x-amz-date", "x-amz-target"] }))).toBe(
    "SignatureDoesNotMatch: 'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
  );
});

it.each([false, true])(
  "a signature covers every x-amz-* header that is sent, presigned: %s",
  (isPresigned) => {
    const target = { host: "sqs.example", "x-amz-target": "AmazonSQS.PurgeQueue" };
    const headers = isPresigned ? target : { ...target, "x-amz-date": STAMP };
    const signedHeaders = isPresigned ? ["host"] : ["host", "x-amz-date"];
    expect(outcomeOf(signed({ isPresigned, headers, signedHeaders }))).toBe(
      "SignatureDoesNotMatch: 'x-amz-target' must be a 'SignedHeader' in the AWS Authorization.",
    );
    const whole = signed({ isPresigned, headers, signedHeaders: [...signedHeaders, "x-amz-target"] });
    expect(outcomeOf(whole)).toBe("ok");
    whole.headers.set("X-Amz-Security-Token", "another's");
    expect(outcomeOf(whole)).toMatch(/^SignatureDoesNotMatch: 'x-amz-security-token' must be/);
  },
);

it.each([
  ["x-amzn-trace-id", "Root=1-00000000-000000000000000000000000"],
  ["x-amz-cf-id", "added=="],
  ["x-forwarded-for", "10.0.0.1"],
  ["user-agent", "a proxy"],
])("a signature covers no %s: a proxy that forwards the request may add it", (name, value) => {
  const request = signed();
  request.headers.set(name, value);
  expect(outcomeOf(request)).toBe("ok");
});

it("a signature covers no header that is not sent", () => {
  const request = signed({
    headers: { ...DRAFT.headers, "content-type": "text/plain" },
    signedHeaders: ["content-type", ...DRAFT.signedHeaders],
  });
  request.headers.delete("content-type");
  expect(outcomeOf(request)).toBe(
    "SignatureDoesNotMatch: 'content-type' is named as a SignedHeader, but it does not exist in the HTTP request",
  );
});

describe("the scope of a signature", () => {
  it.each([
    [
      "20261121/us-east-1/sns/aws4_request",
      "SignatureDoesNotMatch: Credential should be scoped to correct service: 'sqs'.",
    ],
    [
      "20261121/us-east-1/SQS/aws4_request",
      "SignatureDoesNotMatch: Credential should be scoped to correct service: 'sqs'.",
    ],
    [
      "2026/us-east-1/sqs/aws4_request",
      /^SignatureDoesNotMatch: Date in Credential .*: '2026' != '20261121', from '20261121T120000Z'\.$/,
    ],
    [
      "20261122/us-east-1/sqs/aws4_request",
      /^SignatureDoesNotMatch: Date in Credential scope does not match/,
    ],
    [
      "20261121/us_east/sqs/aws4_request",
      "SignatureDoesNotMatch: Credential should be scoped to a valid region, not 'us_east'.",
    ],
    [
      "20261121/us-east-1/sqs/aws5_request",
      "SignatureDoesNotMatch: Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5_request'.",
    ],
    [
      "20261121/us-east-1/sqs",
      /^IncompleteSignature: Credential must have exactly 5 slash-delimited elements/,
    ],
    [
      "20261121/us-east-1/sqs/aws4_request/",
      /^IncompleteSignature: Credential must have exactly 5 slash-delimited elements/,
    ],
  ])("%s is not that of a request to SQS today", (scope, refusal) => {
    const draft = { ...DRAFT, scope };
    const outcome = outcomeOf(requestOf(draft, "0"));
    if (typeof refusal === "string") expect(outcome).toBe(refusal);
    else expect(outcome).toMatch(refusal);
  });

  it("is that of the service that is called", () => {
    const request = signed({ scope: "20261121/us-east-1/sns/aws4_request" });
    expect(outcomeOf(request, { ...SQS, service: "sns" })).toBe("ok");
    expect(outcomeOf(request)).not.toBe("ok");
  });
});

it.each([false, true])("a parameter that comes twice is refused, presigned: %s", (isPresigned) => {
  const params = [
    ["Action", "ListQueues"],
    ["Action", "DeleteQueue"],
  ] as const;
  const headers = isPresigned ? { host: "sqs.example" } : DRAFT.headers;
  const signedHeaders = Object.keys(headers);
  const refusal = "IncompleteSignature: The query string has the parameter 'Action' more than once.";
  expect(outcomeOf(signed({ isPresigned, params, headers, signedHeaders }))).toBe(refusal);
  expect(outcomeOf(signed({ isPresigned, params: params.slice(0, 1), headers, signedHeaders }))).toBe("ok");
});

it("a signature in the header leaves no room for one in the URL", () => {
  const request = signed();
  request.url.searchParams.set("X-Amz-Signature", "0");
  expect(outcomeOf(request)).toMatch(NO_MATCH);
});

describe("whatever is signed", () => {
  const names = [
    "x-amz-target",
    "x-amz-security-token",
    "x-amz-meta-a",
    "content-type",
    "x-amzn-trace-id",
    "accept",
  ];
  const drafts = fc
    .record({
      isPresigned: fc.boolean(),
      sent: fc.uniqueArray(fc.constantFrom(...names)),
      left: fc.subarray(["host", ...names]),
      params: fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.string()), {
        selector: ([name]) => name,
      }),
      body: fc.string(),
    })
    .map(({ isPresigned, sent, left, params, body }) => {
      const own = isPresigned ? [] : ["x-amz-date"];
      const headers: Record<string, string> = { host: "sqs.example" };
      for (const name of sent) headers[name] = `of ${name}`;
      if (!isPresigned) headers["x-amz-date"] = STAMP;
      const signedHeaders = [...["host", ...sent].filter((name) => !left.includes(name)), ...own].sort();
      const isCovered = Object.keys(headers).every(
        (name) => signedHeaders.includes(name) || !(name === "host" || name.startsWith("x-amz-")),
      );
      return { draft: { isPresigned, headers, signedHeaders, params, body }, isCovered };
    })
    // A signature names one header at least.
    .filter(({ draft }) => draft.signedHeaders.length > 0);

  it("is taken if and only if host and all x-amz-* headers are among it", () => {
    fc.assert(
      fc.property(drafts, ({ draft, isCovered }) => {
        expect(outcomeOf(signed(draft)) === "ok").toBe(isCovered);
      }),
    );
  });

  it("is refused once anything of it is another", () => {
    const alterations = fc.constantFrom<(request: ReturnType<typeof signed>) => SignedRequest>(
      (request) => ({ ...request, method: "GET" }),
      (request) => ({ ...request, body: new TextEncoder().encode("another") }),
      (request) => ({ ...request, url: new URL(`/queue${request.url.search}`, request.url) }),
      (request) => {
        const url = new URL(request.url);
        url.searchParams.append("Action", "PurgeQueue");
        return { ...request, url };
      },
      ...names.slice(0, 3).flatMap((name) => [
        (request: ReturnType<typeof signed>) => {
          const headers = new Headers(request.headers);
          headers.set(name, "another");
          return { ...request, headers };
        },
      ]),
      (request) => {
        const headers = new Headers(request.headers);
        headers.set("host", "other.example");
        return { ...request, headers };
      },
    );
    fc.assert(
      fc.property(
        drafts.filter(({ isCovered }) => isCovered),
        alterations,
        ({ draft }, alter) => {
          expect(outcomeOf(alter(signed(draft)))).not.toBe("ok");
        },
      ),
    );
  });
});
