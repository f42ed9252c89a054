import type { TokenRecord, TokensRpc } from "@sluice/protocol";
import { accessKeysOf, type KeptKeys } from "./access-keys.ts";

/**
 * How long a gateway uses a list of tokens before it asks the directory again, in ms. So long a token can still work
 * that was revoked by way of another gateway.
 */
export const TOKENS_KEPT_MS = 5_000;

/** Tokens, as of some moment. */
export interface TokenList {
  readonly list: readonly TokenRecord[];
  /** Those among them that are access keys. */
  readonly keys: KeptKeys;
  readonly atMs: number;
}

/** Cache of the directory's tokens, some seconds old at most. */
export class KeptTokens {
  readonly #tokens: Pick<TokensRpc, "listTokens">;
  readonly #now: () => number;
  #known: TokenList | undefined;

  constructor(tokens: Pick<TokensRpc, "listTokens">, now: () => number) {
    this.#tokens = tokens;
    this.#now = now;
  }

  /**
   * Reads the list. On Workers a request cannot wait for what another one does, so each request that finds the list too
   * old asks for it.
   */
  async read(): Promise<TokenList> {
    const atMs = this.#now();
    if (this.#known !== undefined && atMs - this.#known.atMs < TOKENS_KEPT_MS) return this.#known;
    const list = await this.#tokens.listTokens();
    this.#known = { list, keys: accessKeysOf(list), atMs };
    return this.#known;
  }

  /** Forgets the list after a change: the next request asks for it. */
  forget(): void {
    this.#known = undefined;
  }
}
