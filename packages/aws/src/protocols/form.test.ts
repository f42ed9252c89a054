import * as fc from "fast-check";
import { expect, it } from "vitest";
import { FORM_DEPTH_MAX, FORM_PARAMETERS_MAX, type FormNode, readForm } from "./form.ts";

const FORMS = [
  "",
  "&",
  "a=b&c=d",
  "a=b=c&=d&e&f=",
  "a+b=c+d&%2B=%20",
  "Action=SendMessage&MessageBody=%7B%22a%22%3A%22%C3%BC%F0%9F%98%80%22%7D",
  "a=%EF%BB%BFx&%EF%BB%BF=y",
  "a=%",
  "a=%4&b=%zz&c=%41",
  "a=%FF&b=%C3&c=%ED%A0%80",
  "a=ü&b=\u{1f600}",
  "a=1&a=2",
  "?a=b",
  "a&b=&=c&a=d",
  "b=a=b&%61=x",
  "A.1.a=1&A.1.b=2&A.2.a=3&b=4&A.1.a.c=5&A.1.=6&A..1=7&.=8&A.1.d=9",
  "A.1.a=1&A.1&A.1.b&A%2E1%2Ec=2&A.1=3",
];

const DEEPEST = Array.from({ length: FORM_DEPTH_MAX }, (_, i) => `p${i}`).join(".");

/** The node that a key leads to. */
function nodeAt(form: FormNode, key: string): FormNode | undefined {
  return key.split(".").reduce<FormNode | undefined>((node, name) => node?.child(name), form);
}

/** Each key has its first value. */
function expectFieldsOf(text: string): void {
  const form = readForm(text);
  const params = new URLSearchParams(text);
  for (const key of params.keys()) {
    const isTooDeep = key.split(".").length > FORM_DEPTH_MAX;
    expect(nodeAt(form, key)?.text, `${key} in ${text}`).toBe(isTooDeep ? undefined : params.get(key));
  }
}

it.each(FORMS)("a form has the fields that URLSearchParams finds: %s", expectFieldsOf);

it("a form has them whatever it is", () => {
  const part = fc.constantFrom(
    "A",
    "1",
    "2",
    "10",
    "",
    ".",
    ".",
    "&",
    "&",
    "=",
    "=",
    "%2E",
    "%26",
    "%",
    "+",
    "ü",
    "b",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => expectFieldsOf(parts.join(""))),
    { numRuns: 2_000 },
  );
});

it("a form has those that came before it before its own", () => {
  for (const text of ["a=2&b=3", "a=2&b=3&c=%"]) {
    const form = readForm(text, [["a", "1"]]);
    expect([form.child("a")?.text, form.child("b")?.text]).toEqual(["1", "3"]);
  }
});

it("a form has no key that is too deep", () => {
  expect(nodeAt(readForm(`${DEEPEST}=x`), DEEPEST)?.text).toBe("x");
  expect(readForm(`${DEEPEST}.deeper=x&${DEEPEST}.deepest=y`).hasChildren).toBe(false);
  expect(readForm(`${DEEPEST}.deeper=x&a=y`).child("a")?.text).toBe("y");
});

it.each([
  [FORM_PARAMETERS_MAX - 1, true],
  [FORM_PARAMETERS_MAX, true],
  [FORM_PARAMETERS_MAX + 1, false],
])("a form has %i fields, in its URL and in its body: accepted is %s", (count, isAccepted) => {
  const before = Array.from({ length: 3 }, (_, i) => [`u${i}`, ""] as const);
  for (const text of ["a&".repeat(count - 4), "&".repeat(count - 4)]) {
    const read = () => readForm(text, before).child("u2")?.text;
    if (isAccepted) expect(read()).toBe("");
    else expect(read).toThrow(`The request has more than ${FORM_PARAMETERS_MAX} parameters.`);
  }
});

it("a form may have many keys in one place", () => {
  const keys = Array.from({ length: FORM_PARAMETERS_MAX }, (_, i) => `a.${i + 1}=${i}`);
  const nodes = readForm(keys.toReversed().join("&")).child("a")?.numbered() ?? [];
  expect(nodes.map(({ text }) => text)).toEqual(keys.map((_, i) => `${i}`));
});

it("a form numbers with whole numbers from 1", () => {
  const form = readForm("a.10=e&a.9=d&a.0=x&a.01=x&a.b=x&a.=x&a.-1=x&a.1=c&a.12345678901=x");
  expect(
    form
      .child("a")
      ?.numbered()
      .map(({ text }) => text),
  ).toEqual(["c", "d", "e"]);
});
