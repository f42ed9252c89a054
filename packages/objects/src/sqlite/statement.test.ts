import { expect, it } from "vitest";
import { isBlank, statementText } from "./statement.ts";

it.each([
  ["SELECT ';' AS a, \"b?\" -- is it?", true, { effect: "reads", parameters: 0 }],
  ["/* INSERT */ SELECT ?", true, { effect: "reads", parameters: 1 }],
  ["\n  select 1 WHERE 'it''s ?' = ?", true, { effect: "reads", parameters: 1 }],
  ["PRAGMA quick_check(5)", true, { effect: "reads", parameters: 0 }],
  ["PRAGMA user_version = 5", false, { effect: "writes", changesRows: false }],
  ["INSERT INTO t VALUES (?, ?)", false, { effect: "writes", changesRows: true, parameters: 2 }],
  ["DELETE FROM t RETURNING id", true, { effect: "writes", changesRows: true, parameters: 0 }],
  [
    "WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c RETURNING 1",
    true,
    { effect: "writes", changesRows: true },
  ],
  ["CREATE TABLE t (id)", false, { effect: "writes", changesRows: false }],
  ["SELECT ?2, ?1", true, { effect: "reads", parameters: null }],
  ["SELECT :name", true, { effect: "reads", parameters: null }],
] as const)("tells of %j what it does and takes", (sql, hasRows, told) => {
  expect(statementText(sql, hasRows)).toMatchObject(told);
});

it.each([
  ["", true],
  [" ;\n-- that was all; really\n/* and ; this */", true],
  [" SELECT 2", false],
  ["; 'x'", false],
])("tells whether %j holds another statement", (sql, blank) => {
  expect(isBlank(sql)).toBe(blank);
});
