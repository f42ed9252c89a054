import type { TokenRecord, TokensRpc } from "@sluice/protocol";
import { accessKeysOf, type KeptKeys } from "./access-keys.ts";

/**
 * How long a gateway goes by the tokens that the directory named, in ms: so long a token that was revoked by way of
 * another gateway can still work. No request asks the directory in between.
 */
export const TOKENS_KEPT_MS = 5_000;

/** Tokens, as of some moment. */
export interface TokenList {
  readonly list: readonly TokenRecord[];
  /** Those among them that are access keys. */
  readonly keys: KeptKeys;
  readonly atMs: number;
}

/** The tokens of the directory, as of the last seconds. */
export class KeptTokens {
  readonly #tokens: Pick<TokensRpc, "listTokens">;
  readonly #now: () => number;
  #known: TokenList | undefined;

  constructor(tokens: Pick<TokensRpc, "listTokens">, now: () => number) {
    this.#tokens = tokens;
    this.#now = now;
  }

  /**
   * On Workers nobody can wait for what another request does, so requests that come while the list is too old each ask
   * for it.
   */
  async read(): Promise<TokenList> {
    const atMs = this.#now();
    if (this.#known !== undefined && atMs - this.#known.atMs < TOKENS_KEPT_MS) return this.#known;
    const list = await this.#tokens.listTokens();
    this.#known = { list, keys: accessKeysOf(list), atMs };
    return this.#known;
  }

  /** They were changed: the next request asks for them. */
  forget(): void {
    this.#known = undefined;
  }
}
