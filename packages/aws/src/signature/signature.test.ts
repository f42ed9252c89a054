import { expect, it } from "vitest";
import { credentialOf, type SignedRequest } from "./credential.ts";
import {
  CLOCK_SKEW_MS_MAX,
  type SignatureCheck,
  signatureClaimOf,
  signatureOf,
  verifySignature,
} from "./signature.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const NOW_MS = Date.UTC(2015, 7, 30, 12, 36, 0);
const secretOf = (accessKeyId: string) => (accessKeyId === "AKIDEXAMPLE" ? SECRET : undefined);
/** Service, key and time that the test suite of AWS signs with. */
const CHECK = { service: "service", secretOf, nowMs: NOW_MS };

/** Verifies the signature of a request and returns its credential. Throws the error that refuses the request. */
function credentialIn(request: SignedRequest, check: SignatureCheck) {
  const claim = signatureClaimOf(request, check);
  verifySignature(request, claim);
  return claim.credential;
}

interface SignedHttpRequest extends SignedRequest {
  readonly headers: Headers;
}

function request(
  path: string,
  headers: Record<string, string>,
  body = "",
  method = "GET",
): SignedHttpRequest {
  const url = new URL(path, "https://example.amazonaws.com");
  return { method, url, headers: new Headers(headers), body: new TextEncoder().encode(body) };
}

/** From AWS's published Signature Version 4 test suite. */
const VECTORS: readonly [name: string, SignedRequest][] = [
  [
    "get-vanilla",
    request(
      "/",
      headers("host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ),
  ],
  [
    "get-vanilla-query-order-key-case",
    request(
      "/?Param2=value2&Param1=value1",
      headers("host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ),
  ],
  [
    "post-vanilla",
    request(
      "/",
      headers("host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
      "",
      "POST",
    ),
  ],
];

function headers(signedHeaders: string, signature: string, date = "20150830T123600Z") {
  return {
    host: "example.amazonaws.com",
    "x-amz-date": date,
    authorization:
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${date.slice(0, 8)}/us-east-1/service/aws4_request, ` +
      `SignedHeaders=${signedHeaders}, Signature=${signature}`,
  };
}

/** A request that was signed at a time, with the header or as a presigned URL. */
function signed(atMs: number, presignedSeconds: number | null = null): SignedHttpRequest {
  const date = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `AKIDEXAMPLE/${date.slice(0, 8)}/us-east-1/service/aws4_request`;
  const build = (signature: string) =>
    presignedSeconds === null
      ? request("/?Action=List", headers("host;x-amz-date", signature, date))
      : request(
          "/?Action=List&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
            `&X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=${date}` +
            `&X-Amz-Expires=${presignedSeconds}&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`,
          { host: "example.amazonaws.com" },
        );
  const unsigned = build("0");
  const credential = credentialOf(unsigned);
  if (credential === null) throw new Error("a request without a credential");
  return build(signatureOf(unsigned, credential, SECRET));
}

it.each(VECTORS)("a signature is what AWS's test suite says: %s", (_name, vector) => {
  expect(credentialIn(vector, CHECK)).toMatchObject({ accessKeyId: "AKIDEXAMPLE", region: "us-east-1" });
});

it("a signature of a key that there is waits for the body, and any other is refused without it", () => {
  const { body: _, ...head } = request("/", headers("host;x-amz-date", "00"));
  expect(signatureClaimOf(head, CHECK).secret).toBe(SECRET);
  const { body: __, ...unknown } = request("/", replaced("AKIDEXAMPLE", "AKIDOTHER"));
  expect(() => signatureClaimOf(unknown, CHECK)).toThrow(/security token included/);
});

it("a signature does not fit a request of which anything was changed", () => {
  const { url, headers: given } = signed(NOW_MS);
  const text = /signature we calculated does not match/;
  const altered = [
    request("/?Action=Delete", Object.fromEntries(given)),
    request(`/other${url.search}`, Object.fromEntries(given)),
    request(`/${url.search}`, { ...Object.fromEntries(given), host: "other.example" }),
    request(`/${url.search}`, Object.fromEntries(given), "body"),
    request(`/${url.search}`, Object.fromEntries(given), "", "POST"),
  ];
  for (const each of altered) expect(() => credentialIn(each, CHECK)).toThrow(text);
  expect(() => credentialIn(signed(NOW_MS), { ...CHECK, secretOf: () => "another secret" })).toThrow(text);
});

it.each([
  [-CLOCK_SKEW_MS_MAX - 1_000, /Signature expired/],
  [-CLOCK_SKEW_MS_MAX, null],
  [0, null],
  [CLOCK_SKEW_MS_MAX, null],
  [CLOCK_SKEW_MS_MAX + 1_000, /Signature not yet current/],
])("a signature may be off by 15 minutes: %s ms", (offMs, refusal) => {
  const verify = () => credentialIn(signed(NOW_MS + offMs), CHECK);
  if (refusal === null) expect(verify()).toMatchObject({ accessKeyId: "AKIDEXAMPLE" });
  else expect(verify).toThrow(refusal);
});

it("a signature of a presigned URL is good for as long as it says", () => {
  const url = signed(NOW_MS, 3_600);
  expect(credentialIn(url, { ...CHECK, nowMs: NOW_MS + 3_600_000 })).toMatchObject({ expiresSeconds: 3_600 });
  expect(() => credentialIn(url, { ...CHECK, nowMs: NOW_MS + 3_600_001 })).toThrow(
    expect.objectContaining({ kind: expect.objectContaining({ code: "RequestExpired" }) }),
  );
});

it.each([
  ["MissingAuthenticationToken", request("/", {})],
  ["InvalidClientTokenId", request("/", replaced("AKIDEXAMPLE", "AKIDOTHER"))],
  ["IncompleteSignature", request("/", replaced("SignedHeaders=host;x-amz-date, ", ""))],
  ["IncompleteSignature", request("/", replaced("host;x-amz-date", "host;x-amz-date;host"))],
  ["IncompleteSignature", request("/", replaced("/aws4_request", ""))],
  ["IncompleteSignature", request("/?X-Amz-Signature=0", {})],
  ["IncompleteSignature", request("/?X-Amz-Algorithm=AWS4-HMAC-SHA256", {})],
  ["IncompleteSignature", request("/", { ...replaced("", ""), "x-amz-date": "yesterday" })],
  ["IncompleteSignature", request("/", { ...replaced("", ""), "x-amz-date": "20150931T123600Z" })],
])("a signature is refused with %s", (code, unsigned) => {
  expect(() => credentialIn(unsigned, CHECK)).toThrow(
    expect.objectContaining({ kind: expect.objectContaining({ code }) }),
  );
});

function replaced(from: string, to: string): Record<string, string> {
  const given = headers("host;x-amz-date", "00");
  return { ...given, authorization: given.authorization.replace(from, to) };
}
