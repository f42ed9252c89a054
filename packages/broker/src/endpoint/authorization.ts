import { md5Hex, sha256Hex, toBase64 } from "@sluice/aws";

/** Input of the answer to a server's challenge, besides the challenge. */
export interface AuthorizationInput {
  readonly username: string;
  readonly password: string;
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** Text that differs for each answer. */
  readonly clientNonce: string;
}

/** Challenge of a `WWW-Authenticate` header; names in lower case. */
interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Digests by the names of their algorithms, the best one first. */
const DIGESTS: readonly (readonly [name: string, digest: (data: string | Uint8Array) => string])[] = [
  ["sha-256", sha256Hex],
  ["md5", md5Hex],
];

/** Pattern of the name of a scheme or a parameter, or of a value without quotes. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const PARAMETER = new RegExp(`^(${TOKEN})\\s*=\\s*(${QUOTED}|${TOKEN})`);
const SCHEME = new RegExp(`^(${TOKEN})(?:\\s+|$|(?=,))`);

/**
 * Makes the `Authorization` header that answers a `WWW-Authenticate` header: Digest (RFC 7616; SHA-256 before MD5,
 * their `-sess` variants, `qop` `auth`, `auth-int` or none), else Basic (RFC 7617). `null` if the header asks for none
 * of them.
 *
 * @param header all challenges, in one header or joined from several.
 */
export function authorizationFor(header: string, input: AuthorizationInput): string | null {
  const challenges = challengesIn(header);
  for (const [name, digest] of DIGESTS) {
    for (const challenge of challenges) {
      if (challenge.scheme !== "digest") continue;
      const algorithm = challenge.parameters.get("algorithm")?.toLowerCase() ?? "md5";
      if (algorithm !== name && algorithm !== `${name}-sess`) continue;
      const answer = digestAnswer(challenge.parameters, digest, algorithm.endsWith("-sess"), input);
      if (answer !== null) return answer;
    }
  }
  return challenges.some(({ scheme }) => scheme === "basic") ? basicAnswer(input) : null;
}

function basicAnswer({ username, password }: AuthorizationInput): string {
  return `Basic ${toBase64(new TextEncoder().encode(`${username}:${password}`))}`;
}

/** Answers a Digest challenge; `null` for one without a nonce, or with an unknown quality of protection. */
function digestAnswer(
  challenge: ReadonlyMap<string, string>,
  digest: (data: string | Uint8Array) => string,
  isSession: boolean,
  { username, password, method, url, body, clientNonce }: AuthorizationInput,
): string | null {
  const [realm = "", nonce, offered] = ["realm", "nonce", "qop"].map((name) => challenge.get(name));
  const offers = offered?.toLowerCase().split(/[\s,]+/);
  const qop = offers === undefined ? null : ["auth", "auth-int"].find((known) => offers.includes(known));
  if (nonce === undefined || qop === undefined) return null;
  const { pathname, search } = new URL(url);
  const uri = pathname + search;
  const secret = digest(`${username}:${realm}:${password}`);
  const key = isSession ? digest(`${secret}:${nonce}:${clientNonce}`) : secret;
  const request = digest(qop === "auth-int" ? `${method}:${uri}:${digest(body)}` : `${method}:${uri}`);
  // No nonce is used a second time, so this is the first answer to it.
  const count = "00000001";
  const proof = qop === null ? [key, nonce, request] : [key, nonce, count, clientNonce, qop, request];
  const isHashed = challenge.get("userhash")?.toLowerCase() === "true";
  const [algorithm, opaque] = ["algorithm", "opaque"].map((name) => challenge.get(name));
  return `Digest ${[
    isHashed ? `username="${digest(`${username}:${realm}`)}"` : usernameParameter(username),
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${digest(proof.join(":"))}"`,
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    ...(qop === null && !isSession ? [] : [`cnonce=${quoted(clientNonce)}`]),
    ...(qop === null ? [] : [`qop=${qop}`, `nc=${count}`]),
    ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ...(isHashed ? ["userhash=true"] : []),
  ].join(", ")}`;
}

/** Makes the parameter with the user's name, encoded if it is not ASCII (RFC 7616, 3.4; RFC 8187). */
function usernameParameter(username: string): string {
  if (/^[\x20-\x7e]*$/.test(username)) return `username=${quoted(username)}`;
  const encoded = encodeURIComponent(username).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `username*=UTF-8''${encoded}`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** Reads the challenges of a header, up to the first text that cannot be parsed. */
function challengesIn(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let rest = header;
  for (;;) {
    rest = rest.replace(/^[\s,]+/, "");
    const parameter = PARAMETER.exec(rest);
    const [whole, name = "", value = ""] = parameter ?? SCHEME.exec(rest) ?? [];
    if (whole === undefined) return challenges;
    if (parameter === null) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), unquoted(value));
    rest = rest.slice(whole.length);
  }
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}
