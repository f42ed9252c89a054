import type { TokenRecord } from "@sluice/protocol";

/** An access key of AWS that the broker keeps. */
export interface KeptKey {
  readonly secretAccessKey: string;
  readonly token: TokenRecord;
  /** When it ends, in ms since 1970. */
  readonly untilMs: number;
}

/** Access keys by their ids. */
export type KeptKeys = ReadonlyMap<string, KeptKey>;

/** Lists the access keys among the tokens, those from before a rotation included. */
export function accessKeysOf(tokens: readonly TokenRecord[]): KeptKeys {
  const keys = new Map<string, KeptKey>();
  for (const token of tokens) {
    const { secret, previous } = token;
    const expiresMs = token.expiresAtMs ?? Number.POSITIVE_INFINITY;
    const secrets = [{ secret, untilMs: expiresMs }];
    if (previous !== null) {
      secrets.push({ secret: previous.secret, untilMs: Math.min(expiresMs, previous.untilMs) });
    }
    for (const { secret: one, untilMs } of secrets) {
      if (one.kind !== "aws") continue;
      keys.set(one.accessKeyId, { secretAccessKey: one.secretAccessKey, token, untilMs });
    }
  }
  return keys;
}
