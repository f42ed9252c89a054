import {
  type NewToken,
  TOKENS_MAX,
  type TokenRecord,
  type TokenReply,
  type TokenSecret,
} from "@sluice/protocol";
import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import { JsonRows } from "./json-rows.ts";

/**
 * Tokens that the broker keeps. A row that is damaged or cannot be read admits no client; its name can be deleted and
 * used again.
 */
export class Tokens {
  readonly #rows: JsonRows<TokenRecord>;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#rows = new JsonRows(
      sql,
      "tokens",
      "name TEXT",
      "token",
      UNREADABLE_ROWS.token,
      "; it admits no client",
    );
    this.#now = now;
  }

  list(): TokenRecord[] {
    return this.#rows.all();
  }

  create(token: NewToken): TokenReply {
    const names = this.#rows.keys();
    if (names.includes(token.name)) return { ok: false, refusal: "nameTaken" };
    if (names.length >= TOKENS_MAX) return { ok: false, refusal: "tooMany" };
    const nowMs = this.#now();
    return this.#put({ ...token, previous: null, createdAtMs: nowMs, changedAtMs: nowMs });
  }

  rotate(name: string, secret: TokenSecret, graceMs: number): TokenReply {
    const token = this.#rows.get(name);
    if (token === null) return { ok: false, refusal: "notFound" };
    const nowMs = this.#now();
    const previous = graceMs === 0 ? null : { secret: token.secret, untilMs: nowMs + graceMs };
    return this.#put({ ...token, secret, previous, changedAtMs: nowMs });
  }

  delete(name: string): TokenReply {
    const token = this.#rows.get(name);
    this.#rows.delete(name);
    return token === null ? { ok: false, refusal: "notFound" } : { ok: true, token };
  }

  #put(token: TokenRecord): TokenReply {
    this.#rows.put(token.name, token);
    return { ok: true, token };
  }
}
