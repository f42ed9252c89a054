import { hash } from "node:crypto";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Challenge that an endpoint sends with a 401. */
export interface Challenge {
  readonly header: string;
  /** Unique among all challenges. */
  readonly nonce: string;
}

/** Authorization schemes that an endpoint demands before it takes a request: it answers 401 and names them. */
export type Asks = "nothing" | "basic" | "digest" | "both";

const REALM = "work";

/** A challenge of an endpoint that asks for authorization. */
export function challengeOf(asks: Exclude<Asks, "nothing">, nonce: string): Challenge {
  const digest = `Digest realm="${REALM}", qop="auth", algorithm=SHA-256, nonce="${nonce}"`;
  const basic = `Basic realm="${REALM}", charset="UTF-8"`;
  const header = { basic, digest, both: `${basic}, ${digest}` }[asks];
  return { header, nonce };
}

/**
 * Whether a request's `Authorization` answers a challenge, by RFC 7616 and 7617. It shares no code with the broker.
 */
export function answers(
  authorization: string,
  { header, nonce }: Challenge,
  { username, password }: Credentials,
  url: string,
): boolean {
  const isDigest = header.includes("Digest");
  if (!isDigest)
    return authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const given = new Map(
    [...authorization.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, name, quoted, bare]) => [
      name,
      quoted ?? bare,
    ]),
  );
  const uri = new URL(url).pathname;
  const [nc, cnonce] = [given.get("nc"), given.get("cnonce")];
  const proof = [
    sha256(`${username}:${REALM}:${password}`),
    nonce,
    nc,
    cnonce,
    "auth",
    sha256(`POST:${uri}`),
  ];
  return (
    authorization.startsWith("Digest ") &&
    given.get("nonce") === nonce &&
    given.get("uri") === uri &&
    given.get("response") === sha256(proof.join(":"))
  );
}

function sha256(text: string): string {
  return hash("sha256", text);
}
