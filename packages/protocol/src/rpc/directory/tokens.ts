/** Tokens that the broker keeps, with their rights over HTTP. Plain data: it crosses RPC. */

/**
 * Rights of a token.
 *
 * - `read`: look at queues, messages and what happened.
 * - `send`: send messages.
 * - `consume`: receive, acknowledge, retry and delete messages.
 * - `admin`: everything, which includes the others.
 */
export const SCOPES = ["read", "send", "consume", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** Most tokens of a broker: each gateway holds all of them. */
export const TOKENS_MAX = 500;

/** Names of tokens. They are lower case, so that none looks like a variable or an access key. */
export const TOKEN_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Credential that a caller is authenticated by. A contract: it is stored. Kinds may be added. */
export type TokenSecret =
  | {
      readonly kind: "bearer";
      /** SHA-256 of the secret, as 64 hexadecimal digits. The secret itself is not kept. */
      readonly sha256: string;
    }
  | {
      /** An access key of AWS. Its signatures can only be checked with the whole secret. */
      readonly kind: "aws";
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
    };

/** Properties that a token is created with. */
export interface NewToken {
  readonly name: string;
  readonly secret: TokenSecret;
  readonly scopes: readonly Scope[];
  /** Names of queues, or beginnings of names that end in `*`. None: every queue, and what belongs to no queue. */
  readonly queues: readonly string[];
  /** In ms since 1970; `null` for never. */
  readonly expiresAtMs: number | null;
  /** Requests a second; `null` for any number. */
  readonly ratePerSecond: number | null;
}

/** Whether a queue's name is among names and beginnings of names that end in `*`. */
export function isAmong(patterns: readonly string[], queue: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? queue.startsWith(pattern.slice(0, -1)) : queue === pattern,
  );
}

/** A token in the directory. A contract: it is stored. Only optional members may be added. */
export interface TokenRecord extends NewToken {
  /** Secret before the last rotation, and until when it still counts, in ms since 1970. */
  readonly previous: { readonly secret: TokenSecret; readonly untilMs: number } | null;
  readonly createdAtMs: number;
  /** When it was created or rotated last. */
  readonly changedAtMs: number;
}

export type TokenReply =
  | { readonly ok: true; readonly token: TokenRecord }
  | { readonly ok: false; readonly refusal: "nameTaken" | "tooMany" | "notFound" };

/** The tokens in the directory. */
export interface TokensRpc {
  /** Every token, in order of names. */
  listTokens(): Promise<readonly TokenRecord[]>;
  /** Refused: `nameTaken`, `tooMany`. */
  createToken(token: NewToken): Promise<TokenReply>;
  /**
   * Gives a token another secret. Refused: `notFound`.
   *
   * @param graceMs how long the old secret counts, in ms. One from an earlier rotation ends at once.
   */
  rotateToken(name: string, secret: TokenSecret, graceMs: number): Promise<TokenReply>;
  /** Answers with what it was. Refused: `notFound`. */
  deleteToken(name: string): Promise<TokenReply>;
}
