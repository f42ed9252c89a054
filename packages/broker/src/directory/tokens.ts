import {
  type NewToken,
  TOKENS_MAX,
  type TokenRecord,
  type TokenReply,
  type TokenSecret,
} from "@sluice/protocol";
import { checksumOfText } from "../store/checksum.ts";

/** A contract: this table is stored. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS tokens " +
  "(name TEXT PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID";

type Row = { name: string; row: string; checksum: number };

/** The tokens that the broker keeps. A damaged row lets nobody in; its name can be deleted and used again. */
export class Tokens {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(SCHEMA);
  }

  list(): TokenRecord[] {
    const rows = this.#sql.exec<Row>("SELECT name, row, checksum FROM tokens ORDER BY name").toArray();
    return rows.flatMap((row) => tokenIn(row) ?? []);
  }

  create(token: NewToken): TokenReply {
    const names = this.#sql.exec<{ name: string }>("SELECT name FROM tokens").toArray();
    if (names.some(({ name }) => name === token.name)) return { ok: false, refusal: "nameTaken" };
    if (names.length >= TOKENS_MAX) return { ok: false, refusal: "tooMany" };
    const nowMs = this.#now();
    return this.#put({ ...token, previous: null, createdAtMs: nowMs, changedAtMs: nowMs });
  }

  rotate(name: string, secret: TokenSecret, graceMs: number): TokenReply {
    const token = this.#read(name);
    if (token === null) return { ok: false, refusal: "notFound" };
    const nowMs = this.#now();
    const previous = graceMs === 0 ? null : { secret: token.secret, untilMs: nowMs + graceMs };
    return this.#put({ ...token, secret, previous, changedAtMs: nowMs });
  }

  delete(name: string): TokenReply {
    const token = this.#read(name);
    this.#sql.exec("DELETE FROM tokens WHERE name = ?", name);
    return token === null ? { ok: false, refusal: "notFound" } : { ok: true, token };
  }

  #read(name: string): TokenRecord | null {
    const [row] = this.#sql
      .exec<Row>("SELECT name, row, checksum FROM tokens WHERE name = ?", name)
      .toArray();
    return row === undefined ? null : tokenIn(row);
  }

  #put(token: TokenRecord): TokenReply {
    const text = JSON.stringify(token);
    this.#sql.exec(
      "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)",
      ...[token.name, text, checksumOfText(text)],
    );
    return { ok: true, token };
  }
}

function tokenIn({ name, row, checksum }: Row): TokenRecord | null {
  if (checksum === checksumOfText(row)) return JSON.parse(row) as TokenRecord;
  console.error(`Directory: what was stored of token "${name}" is damaged; it lets nobody in`);
  return null;
}
