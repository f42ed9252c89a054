import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { unstable_getVarsForDev } from "wrangler";
import { projectFolder } from "../../test/project-folder.ts";
import { devVarsFile, setVariables } from "./broker-settings.ts";

it("a variable that is unset or empty is not handed on", () => {
  expect(setVariables(["A", "B", "C"], { A: "1", B: "", D: "4" })).toEqual({ A: "1" });
});

/** Reads the variables of a file as Wrangler does. */
function readBack(file: string): Record<string, string> {
  const folder = projectFolder({ ".dev.vars": file });
  const vars = unstable_getVarsForDev(join(folder, "wrangler.toml"), undefined, {}, undefined, true);
  return Object.fromEntries(Object.entries(vars).map(([name, { value }]) => [name, String(value)]));
}

it.each([
  '$B "c" #d',
  "it's",
  "it's #1",
  "two\nlines of 'text'",
  `a'b"c`,
  `a'b\\c`,
  `a'b\\nc`,
  `'a' is "b"`,
  "#a'b`c",
  "#a'\"b",
  "\\' \" `",
  "ends in \\",
  "'a' \\\\n",
  " a ",
])("Wrangler reads the value %j as it was written", (value) => {
  const variables = { A: value, B: `it's 'b'`, C: `"c"` };
  expect(readBack(devVarsFile(variables))).toEqual(variables);
});

it("Wrangler reads every value as it was written, unless it is refused", () => {
  const part = fc.constantFrom("'", '"', "`", "\\", "\\n", "\\r", "\n", "\r", "#", " ", "$A", "a", "=");
  const values = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(values, values, (a, b) => {
      const variables = [a, b].filter((value) => !isRefused(value)).map((value, i) => [`V${i}`, value]);
      const written = Object.fromEntries(variables);
      expect(readBack(devVarsFile(written))).toEqual(written);
    }),
  );
});

function isRefused(value: string): boolean {
  try {
    devVarsFile({ A: value });
    return false;
  } catch {
    return true;
  }
}

it.each(["a\rb", "#'\"`", "#\\", "'\\", "'\n\\", "'`#\\n"])(
  "the value %j, which a file of variables cannot have, is refused",
  (value) => {
    expect(() => devVarsFile({ SLUICE_OTLP_HEADERS: value })).toThrow(
      /^SLUICE_OTLP_HEADERS cannot be handed to Wrangler/,
    );
  },
);
