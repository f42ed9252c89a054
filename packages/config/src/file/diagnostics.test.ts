import { expect, test } from "vitest";
import { type ConfigDiagnostic, ConfigError, formatDiagnostic } from "./diagnostics.ts";

const warning: ConfigDiagnostic = {
  severity: "warning",
  file: "/w/wrangler.toml",
  line: 3,
  text: "mind this",
};
const error: ConfigDiagnostic = { severity: "error", file: "/w/wrangler.toml", line: 9, text: "no good" };

test("a ConfigError lists every diagnostic on a line of its own, errors first", () => {
  const thrown = new ConfigError([
    warning,
    error,
    { severity: "error", file: "/w/x.json", text: "unreadable" },
  ]);
  expect(thrown.message).toBe(
    "/w/wrangler.toml:9: no good\n/w/x.json: unreadable\n/w/wrangler.toml:3: warning: mind this",
  );
  expect(thrown.diagnostics).toHaveLength(3);
  expect(thrown.name).toBe("ConfigError");
});

test("the further lines of a text are indented", () => {
  expect(formatDiagnostic({ ...error, text: "one\ntwo" })).toBe("/w/wrangler.toml:9: one\n  two");
});
