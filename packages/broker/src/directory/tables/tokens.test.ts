import { type NewToken, TOKENS_MAX } from "@sluice/protocol";
import { beforeEach, expect, it, vi } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { Tokens } from "./tokens.ts";

let sql: SqlStorage;
let nowMs: number;

beforeEach(() => {
  sql = nodeSql();
  nowMs = 1_000;
});

const open = () => new Tokens(sql, () => nowMs);
const bearer = (sha256: string) => ({ kind: "bearer" as const, sha256 });
const token = (name: string): NewToken => ({
  name,
  secret: bearer("old"),
  scopes: ["read"],
  queues: ["a*"],
  expiresAtMs: null,
  ratePerSecond: 3,
});

it("the tokens of the directory are there after a restart, in order of names, without those that were deleted", () => {
  for (const name of ["c", "a", "b"]) open().create(token(name));
  expect(open().delete("c")).toMatchObject({ ok: true, token: { name: "c" } });
  const times = { previous: null, createdAtMs: 1_000, changedAtMs: 1_000 };
  expect(open().list()).toEqual([
    { ...token("a"), ...times },
    { ...token("b"), ...times },
  ]);
});

it("the tokens of the directory have one of each name, and only so many", () => {
  const tokens = open();
  for (let i = 0; i < TOKENS_MAX; i++) expect(tokens.create(token(`t${i}`))).toMatchObject({ ok: true });
  expect(tokens.create(token("t1"))).toEqual({ ok: false, refusal: "nameTaken" });
  expect(tokens.create(token("more"))).toEqual({ ok: false, refusal: "tooMany" });
  tokens.delete("t1");
  expect(tokens.create(token("more"))).toMatchObject({ ok: true });
});

it("the tokens of the directory keep the old secret beside a new one for the grace period alone", () => {
  const tokens = open();
  tokens.create(token("a"));
  nowMs = 2_000;
  const rotated = { ok: true, token: { secret: bearer("new"), createdAtMs: 1_000, changedAtMs: 2_000 } };
  expect(tokens.rotate("a", bearer("new"), 500)).toMatchObject({
    ...rotated,
    token: { ...rotated.token, previous: { secret: bearer("old"), untilMs: 2_500 } },
  });
  expect(tokens.rotate("a", bearer("newer"), 0)).toMatchObject({ token: { previous: null } });
  expect(open().list()).toMatchObject([{ secret: bearer("newer"), previous: null }]);
});

it("the tokens of the directory are refused to be changed where there are none", () => {
  expect(open().rotate("a", bearer("new"), 0)).toEqual({ ok: false, refusal: "notFound" });
  expect(open().delete("a")).toEqual({ ok: false, refusal: "notFound" });
});

it("the tokens of the directory admit no client when they are damaged, and are logged; their names can be used again", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const tokens = open();
  tokens.create(token("damaged"));
  tokens.create(token("whole"));
  sql.exec(`UPDATE tokens SET row = replace(row, '"read"', '"admin"') WHERE name = 'damaged'`);
  expect(tokens.list().map(({ name }) => name)).toEqual(["whole"]);
  expect(log.mock.calls[0]).toEqual([
    'Directory: the stored row of token "damaged" is damaged; it admits no client',
  ]);
  tokens.delete("damaged");
  expect(tokens.create(token("damaged"))).toMatchObject({ ok: true });
  log.mockRestore();
});
