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
 * - `noToken`: the request has no token.
 * - `unknown`: there is no such token, or it has expired, as the reason says.
 * - `closed`: the configuration has no tokens, and the broker keeps none.
 * - `throttled`: the token has made too many requests; the next may come after so many seconds.
 */
export type Admission =
  | { readonly kind: "in"; readonly rights: Rights }
  | { readonly kind: "noToken" | "unknown" | "closed"; readonly reason: string }
  | { readonly kind: "throttled"; readonly afterSeconds: number };

const TOKENS = "as Authorization: Bearer: one of its SLUICE_API_TOKENS, or one that it keeps itself.";
const REASONS = {
  noToken: `This broker asks for a token ${TOKENS}`,
  unknown: `This broker does not know that token. It asks for another one ${TOKENS}`,
};

/** Identifies callers by their tokens, with their rights. */
export class Authority {
  readonly access: Access;
  readonly #kept: KeptTokens;
  readonly #rates: Rates;
  readonly #now: () => number;
  /** Digests of the configuration's tokens; `null` until a request has made them. Earlier ones make their own. */
  #configured: ConfiguredDigests | null = null;

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
    const found = await this.#find(token);
    if ("admission" in found) return found.admission;
    const afterSeconds = this.take(found.token);
    return afterSeconds > 0 ? { kind: "throttled", afterSeconds } : admitted(found.token);
  }

  /** Identifies the caller of a request that was admitted and goes on, without counting it. */
  async admitAgain(token: string | null): Promise<Admission> {
    const found = await this.#find(token);
    return "admission" in found ? found.admission : admitted(found.token);
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

  /** Finds the kept token of a request, whose rate counts, or else the admission without one. */
  async #find(token: string | null): Promise<{ token: TokenRecord } | { admission: Admission }> {
    const { access } = this;
    if (access.kind === "open") return { admission: { kind: "in", rights: allRights(ACTORS.local) } };
    if (token === null) return { admission: this.#refusal("noToken") };
    const given = await sha256Of(token);
    this.#configured ??= await configuredDigests(access);
    const { tokens, process } = this.#configured;
    if (includes(tokens, given)) {
      return { admission: { kind: "in", rights: allRights(ACTORS.firstAdministrator) } };
    }
    if (includes(process, given)) return { admission: { kind: "in", rights: allRights(ACTORS.process) } };
    const { list } = await this.#kept.read();
    const nowMs = this.#now();
    const found = list.filter((record) => includes(digestsOf(record, nowMs), given))[0];
    if (found === undefined) return { admission: this.#refusal("unknown") };
    const { name, expiresAtMs } = found;
    if (expiresAtMs === null || nowMs < expiresAtMs) return { token: found };
    return { admission: { kind: "unknown", reason: `The token "${name}" has expired.` } };
  }

  #refusal(kind: "noToken" | "unknown"): Admission {
    const { access } = this;
    return access.kind === "closed" ? access : { kind, reason: REASONS[kind] };
  }
}

/** Digests of the tokens that do not come from the directory. */
interface ConfiguredDigests {
  readonly tokens: readonly string[];
  /** That of the process that runs the broker; empty where it has no token. */
  readonly process: readonly string[];
}

async function configuredDigests(access: Access): Promise<ConfiguredDigests> {
  if (access.kind !== "tokens") return { tokens: [], process: [] };
  const { tokens, processToken } = access;
  return {
    tokens: await Promise.all(tokens.map(sha256Of)),
    process: processToken === undefined ? [] : [await sha256Of(processToken)],
  };
}

function admitted({ name, scopes, queues }: TokenRecord): Admission {
  return { kind: "in", rights: { by: name, scopes, queues } };
}

/** Lists the digests that are valid for a token. */
function digestsOf({ secret, previous }: TokenRecord, nowMs: number): string[] {
  const secrets = previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret];
  return secrets.flatMap((one) => (one.kind === "bearer" ? one.sha256 : []));
}

/** Whether a digest is among them. Compares with all, so that the time tells nothing about them. */
function includes(digests: readonly string[], given: string): boolean {
  return digests.filter((digest) => isSameText(digest, given)).length > 0;
}
