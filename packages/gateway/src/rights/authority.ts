import { isSameText } from "@sluice/aws";
import { ACTORS, type TokenRecord, type TokensRpc } from "@sluice/protocol";
import type { Access } from "../http/access.ts";
import type { KeptKeys } from "./access-keys.ts";
import { sha256Of } from "./digest.ts";
import { KeptTokens } from "./kept-tokens.ts";
import { Rates } from "./rates.ts";
import { allRights, type Rights } from "./rights.ts";

/**
 * Whether a caller is let in.
 *
 * - `in`: with these rights.
 * - `noToken`, `unknown`: without a token, or with one that does not count (any more), for the reason that is given.
 * - `closed`: the configuration has no tokens, and the broker keeps none.
 * - `throttled`: the token has made too many requests; the next may come after so many seconds.
 */
export type Admission =
  | { readonly kind: "in"; readonly rights: Rights }
  | { readonly kind: "noToken" | "unknown" | "closed"; readonly reason: string }
  | { readonly kind: "throttled"; readonly afterSeconds: number };

const ASKED =
  "This broker asks for a token as Authorization: Bearer: one of its SLUICE_API_TOKENS, or of its own.";

/** Identifies callers by their tokens, with their rights. */
export class Authority {
  readonly access: Access;
  readonly #kept: KeptTokens;
  readonly #rates: Rates;
  readonly #now: () => number;

  constructor(access: Access, tokens: Pick<TokensRpc, "listTokens">, now: () => number) {
    this.access = access;
    this.#kept = new KeptTokens(tokens, now);
    this.#rates = new Rates(now);
    this.#now = now;
  }

  /**
   * Identifies the caller of a request, and counts the request. Takes the same time whichever character of a token is
   * wrong. The tokens of the configuration count even while the directory does not answer.
   *
   * @param token that of the request; `null` for none.
   * @throws when the directory has to be asked and fails.
   */
  async admit(token: string | null): Promise<Admission> {
    const known = await this.#find(token);
    if ("kind" in known) return known;
    const afterSeconds = this.take(known);
    return afterSeconds > 0 ? { kind: "throttled", afterSeconds } : admitted(known);
  }

  /** Identifies the caller of a request that was admitted and goes on, without counting it. */
  async admitAgain(token: string | null): Promise<Admission> {
    const known = await this.#find(token);
    return "kind" in known ? known : admitted(known);
  }

  /** Forgets the tokens after a change by way of this gateway, so that it counts at once. */
  forgetTokens(): void {
    this.#kept.forget();
  }

  /** Reads the access keys of AWS that the broker keeps. */
  async accessKeys(): Promise<KeptKeys> {
    return (await this.#kept.read()).keys;
  }

  /** Counts a request. Returns 0 if it may be made, else the seconds until the next one may be. */
  take({ name, ratePerSecond }: Pick<TokenRecord, "name" | "ratePerSecond">): number {
    return ratePerSecond === null ? 0 : this.#rates.take(name, ratePerSecond);
  }

  /** Finds a kept token that is valid; else the answer, which does not depend on the rate of requests. */
  async #find(token: string | null): Promise<Admission | TokenRecord> {
    const { access } = this;
    if (access.kind === "open") return { kind: "in", rights: allRights(ACTORS.local) };
    if (token === null) return this.#refuse("noToken");
    const given = await sha256Of(token);
    if (access.kind === "tokens") {
      const accepted = await Promise.all(access.tokens.map(sha256Of));
      if (includes(accepted, given)) return { kind: "in", rights: allRights(ACTORS.firstAdministrator) };
      const own = access.processToken === undefined ? [] : [await sha256Of(access.processToken)];
      if (includes(own, given)) return { kind: "in", rights: allRights(ACTORS.process) };
    }
    const { list } = await this.#kept.read();
    const nowMs = this.#now();
    const found = list.filter((record) => includes(digestsOf(record, nowMs), given))[0];
    if (found === undefined) return this.#refuse("unknown");
    const { name, expiresAtMs } = found;
    const isOver = expiresAtMs !== null && expiresAtMs <= nowMs;
    return isOver ? { kind: "unknown", reason: `The token "${name}" has expired.` } : found;
  }

  #refuse(kind: "noToken" | "unknown"): Admission {
    const { access } = this;
    return access.kind === "closed" ? access : { kind, reason: ASKED };
  }
}

function admitted({ name, scopes, queues }: TokenRecord): Admission {
  return { kind: "in", rights: { by: name, scopes, queues } };
}

/** Lists the digests that are valid for a token. */
function digestsOf({ secret, previous }: TokenRecord, nowMs: number): string[] {
  const secrets = previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret];
  return secrets.flatMap((one) => (one.kind === "bearer" ? one.sha256 : []));
}

/** Whether a digest is among them. Compares with all, so that the time does not tell. */
function includes(digests: readonly string[], given: string): boolean {
  return digests.filter((digest) => isSameText(digest, given)).length > 0;
}
