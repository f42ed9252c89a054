import { describe, expect, it } from "vitest";
import { type AuthorizationInput, authorizationFor } from "./authorization.ts";

/** The example of RFC 7616, 3.9.1. */
const INPUT: AuthorizationInput = {
  username: "Mufasa",
  password: "Circle of Life",
  method: "GET",
  url: "http://www.example.org/dir/index.html",
  body: new Uint8Array(),
  clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
};
const NONCE = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
const MD5_RESPONSE = "8ca523f5e9506fed4657c9700eebdbec";
const SHA_256_RESPONSE = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1";

const challenge = (algorithm: string, more = "") =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="${NONCE}"${more}`;
const response = (header: string | null) => /response="([0-9a-f]+)"/.exec(header ?? "")?.[1];

describe("Digest authentication (RFC 7616)", () => {
  it("answers with MD5 and with SHA-256 as the RFC's example does", () => {
    const opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS";
    expect(authorizationFor(challenge("MD5", `, opaque="${opaque}"`), INPUT)).toBe(
      'Digest username="Mufasa", realm="http-auth@example.org", ' +
        `nonce="${NONCE}", uri="/dir/index.html", response="${MD5_RESPONSE}", algorithm=MD5, ` +
        `cnonce="${INPUT.clientNonce}", qop=auth, nc=00000001, opaque="${opaque}"`,
    );
    expect(response(authorizationFor(challenge("SHA-256"), INPUT))).toBe(SHA_256_RESPONSE);
  });

  it("prefers SHA-256 to MD5, and both to Basic, in whatever order they are offered", () => {
    const offers = [challenge("MD5"), 'Basic realm="a, b"', challenge("SHA-256")];
    expect(response(authorizationFor(offers.join(", "), INPUT))).toBe(SHA_256_RESPONSE);
    expect(response(authorizationFor(offers.slice(0, 2).join(", "), INPUT))).toBe(MD5_RESPONSE);
    expect(response(authorizationFor(`Basic, ${challenge("MD5")}`, INPUT))).toBe(MD5_RESPONSE);
  });

  it("answers a server that knows no quality of protection, which is how it was before (RFC 2069)", () => {
    const answer = authorizationFor(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
      { ...INPUT, password: "CircleOfLife" },
    );
    expect(response(answer)).toBe("1949323746fe6a43ef61f9606e7febea");
    expect(answer).not.toMatch(/qop|nc=|cnonce/);
  });

  it("protects the body where only that is offered, and ties the key to the nonce where a session is", () => {
    const integrity = 'Digest realm="r", nonce="n", qop="auth-int"';
    const of = (text: string) =>
      response(authorizationFor(integrity, { ...INPUT, body: new TextEncoder().encode(text) }));
    expect(of("a")).not.toBe(of("b"));
    const session = authorizationFor(challenge("MD5-sess"), INPUT);
    expect(response(session)).not.toBe(MD5_RESPONSE);
    expect(session).toContain("algorithm=MD5-sess");
  });

  it("hides the name where it is asked to, and writes one that is not ASCII as UTF-8", () => {
    const hashed = authorizationFor(challenge("SHA-256", ", userhash=true"), { ...INPUT, username: "Jäsøn" });
    expect(hashed).toMatch(/^Digest username="[0-9a-f]{64}", .*userhash=true$/);
    const plain = authorizationFor(challenge("SHA-256"), { ...INPUT, username: "Jäsøn Doe*" });
    expect(plain).toContain("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe%2A, ");
  });

  it("escapes quotes, and signs the query too", () => {
    const answer = authorizationFor('Digest realm="say \\"a\\"", nonce=n, qop=auth', {
      ...INPUT,
      url: "https://shop.example/hook?a=1",
    });
    expect(answer).toContain('realm="say \\"a\\""');
    expect(answer).toContain('uri="/hook?a=1"');
  });
});

it("Basic authentication (RFC 7617) is used where nothing better is offered", () => {
  expect(authorizationFor('Basic realm="shop"', { ...INPUT, username: "ann", password: "p@ß" })).toBe(
    `Basic ${btoa("ann:p@\u00c3\u009f")}`,
  );
  const unknown = 'Digest realm="r", nonce="n", algorithm=SHA-1, Basic realm="shop"';
  expect(authorizationFor(unknown, INPUT)).toMatch(/^Basic /);
});

it.each([
  ["", "nothing"],
  ["Bearer realm=a", "another scheme"],
  ['Digest realm="r", qop="auth"', "no nonce"],
  ['Digest realm="r", nonce="n", qop="other"', "an unknown quality of protection"],
  ['"', "what is no header"],
])("%j is not answered: %s", (header) => {
  expect(authorizationFor(header, INPUT)).toBeNull();
});
