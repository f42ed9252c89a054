import type { TokenRecord, TokensRpc } from "@sluice/protocol";
import { accessKeysOf, type KeptKeys } from "./access-keys.ts";

/**
 * How long a gateway uses a list of tokens before it asks the directory again, in ms. A token that was revoked by way
 * of another gateway can still work for that long.
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
  /** Number of the last request to the directory, or of the last change: both are counted together. */
  #number = 0;
  /** Number of the request whose answer is kept, or of a change after it. */
  #knownNumber = 0;

  constructor(tokens: Pick<TokensRpc, "listTokens">, now: () => number) {
    this.#tokens = tokens;
    this.#now = now;
  }

  /**
   * Reads the list. On Workers a request cannot wait for the work of another one, so each request that finds the list
   * too old asks for it. An answer is not kept if there was a change since it was asked for, or if a later request has
   * been answered.
   */
  async read(): Promise<TokenList> {
    const atMs = this.#now();
    // A list of the future is one from before the clock was set back: it must not hide that a token was revoked.
    if (this.#known !== undefined && Math.abs(atMs - this.#known.atMs) < TOKENS_KEPT_MS) return this.#known;
    this.#number += 1;
    const number = this.#number;
    const list = await this.#tokens.listTokens();
    const read = { list, keys: accessKeysOf(list), atMs };
    if (number > this.#knownNumber) {
      this.#known = read;
      this.#knownNumber = number;
    }
    return read;
  }

  /** Forgets the list after a change: the next request asks for it. */
  forget(): void {
    this.#known = undefined;
    this.#number += 1;
    this.#knownNumber = this.#number;
  }
}
