import { credentialOf, signatureOf } from "@sluice/aws";
import type { Scope, TokenRecord } from "@sluice/protocol";
import type { AwsAccess } from "../src/aws/caller.ts";
import { AwsRequest } from "../src/aws/request.ts";
import type { SqsPorts } from "../src/aws/sqs/context.ts";

/** Rights of an access key that the broker keeps. */
export interface KeptKeyRights {
  readonly scopes: readonly Scope[];
  /** Default: every queue. */
  readonly queues?: readonly string[];
  /** When the next request may come. Default: at once. */
  readonly throttledSeconds?: number;
  /** Whether it is revoked by then. Default: never. */
  isRevoked?(): boolean;
}

const ID = "SLUICE0123456789AB";
const SECRET = "secret";

/** Only keys that the broker keeps. */
export const KEPT_KEYS: AwsAccess = { kind: "keys", secrets: new Map() };

/** A broker that keeps one key, of the token "shop"; none for `null`. */
export function keptKey(rights: KeptKeyRights | null): SqsPorts["authority"] {
  if (rights === null) return { accessKeys: async () => new Map(), take: () => 0 };
  const secret = { kind: "aws", accessKeyId: ID, secretAccessKey: SECRET } as const;
  const token: TokenRecord = {
    name: "shop",
    secret,
    scopes: rights.scopes,
    queues: rights.queues ?? [],
    expiresAtMs: null,
    ratePerSecond: null,
    previous: null,
    createdAtMs: 0,
    changedAtMs: 0,
  };
  const key = { secretAccessKey: SECRET, token, untilMs: Number.POSITIVE_INFINITY };
  const accessKeys = async () => new Map(rights.isRevoked?.() === true ? [] : [[ID, key] as const]);
  return { accessKeys, take: () => rights.throttledSeconds ?? 0 };
}

/** A request with the signature of that key. */
export async function signedByKeptKey(
  raw: Request,
  service: "sqs" | "sns",
  nowMs: number,
): Promise<AwsRequest> {
  const at = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const body = raw.method === "GET" ? null : await raw.clone().arrayBuffer();
  const sign = async (signature: string) => {
    const headers = new Headers(raw.headers);
    headers.set("x-amz-date", at);
    const names = [...new Set([...headers.keys(), "host"])].filter((name) => name !== "authorization").sort();
    const scope = `${at.slice(0, 8)}/us-east-1/${service}/aws4_request`;
    headers.set(
      "authorization",
      `AWS4-HMAC-SHA256 Credential=${ID}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
    );
    const request = new AwsRequest(new Request(raw.url, { method: raw.method, headers, body }));
    await request.readBytes();
    return request;
  };
  const unsigned = await sign("0");
  const credential = credentialOf(unsigned);
  if (credential === null) throw new Error("the request has no credential");
  return sign(signatureOf(unsigned, credential, SECRET));
}
