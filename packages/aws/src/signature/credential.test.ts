import { expect, it } from "vitest";
import { credentialOf } from "./credential.ts";

const SIGNED_AT = "20261121T000000Z";
const [FIRST, SECOND] = ["1".repeat(64), "2".repeat(64)];

const header = (region: string, signedHeaders = "host;x-amz-date") =>
  `AWS4-HMAC-SHA256 Credential=key/20261121/${region}/sqs/aws4_request, SignedHeaders=${signedHeaders}`;

function read(authorization: string, signedAt: string | null = SIGNED_AT) {
  const headers = new Headers({ authorization, ...(signedAt === null ? {} : { "x-amz-date": signedAt }) });
  return credentialOf({ method: "POST", url: new URL("http://localhost/"), headers });
}

it("the credential of a request is that of its own header, whatever came before it", () => {
  for (const signature of [FIRST, SECOND, FIRST]) {
    for (const region of ["us-east-1", "eu-west-1"]) {
      expect(read(`${header(region)}, Signature=${signature}`)).toEqual({
        accessKeyId: "key",
        date: "20261121",
        region,
        service: "sqs",
        signedHeaders: ["host", "x-amz-date"],
        signature,
        signedAt: SIGNED_AT,
        expiresSeconds: null,
      });
    }
  }
});

it.each([
  ["the signature first", `AWS4-HMAC-SHA256 Signature=${FIRST},${header("r").slice(16)}`, FIRST],
  ["no space", `${header("r")},Signature=${FIRST}`, FIRST],
  ["an unknown field behind", `${header("r")}, Signature=${FIRST}, X=Signature=${SECOND}`, FIRST],
  ["one that is no digest", `${header("r")}, Signature=00`, "00"],
])(
  "the credential of a request is read the first time and every other: %s",
  (_name, authorization, signature) => {
    for (let i = 0; i < 3; i++) expect(read(authorization)).toMatchObject({ region: "r", signature });
  },
);

it("the credential of a request is none that a header lacks a part of, though others like it were whole", () => {
  expect(read(`${header("us-west-2")}, Signature=${FIRST}`)).not.toBeNull();
  expect(() => read(header("us-west-2"))).toThrow("Authorization header requires 'Signature' parameter.");
  expect(() => read(`${header("us-west-2")}, Signature=${FIRST}, Signature=${SECOND}`)).toThrow(
    "the parameter 'Signature' more than once",
  );
  expect(() => read(`${header("us-west-2")}, Signature=${FIRST}`, null)).toThrow("'X-Amz-Date'");
  for (let i = 0; i < 2; i++) {
    expect(() => read(`${header("us west")}, Signature=${FIRST}`)).toThrow("a valid region, not 'us west'");
    expect(() => read(`${header("us-west-2", "ho st")}, Signature=${FIRST}`)).toThrow("names of headers");
  }
});

it("the credential of a request is read however many clients there are, and however long their headers", () => {
  for (let i = 0; i < 1_100; i++)
    expect(read(`${header(`r${i}`)}, Signature=${FIRST}`)?.region).toBe(`r${i}`);
  const long = Array.from({ length: 300 }, (_, i) => `x-${i}`).join(";");
  for (let i = 0; i < 2; i++) {
    expect(read(`${header("r", long)}, Signature=${FIRST}`)?.signedHeaders).toHaveLength(300);
  }
});
