import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formField, formTree, readForm } from "./form.ts";
import { FORM_DEPTH_MAX, type FormNode } from "./form-tree.ts";

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

/** All that is in a tree, as an object that can be compared. */
function shown(node: FormNode, names: readonly string[]): object {
  const children = names.flatMap((name) => {
    const child = node.child(name);
    return child === undefined ? [] : [[name, shown(child, names)]];
  });
  return { text: node.text, numbered: node.numbered().map(({ name }) => name), children };
}

const names = (text: string) => [
  ...new Set([...new URLSearchParams(text)].flatMap(([name]) => name.split("."))),
];

function expectSameTree(text: string): void {
  const expected = shown(formTree(new URLSearchParams(text)), names(text));
  expect(shown(readForm(text), names(text)), text).toEqual(expected);
}

describe("a form", () => {
  it.each(FORMS)("has the fields that URLSearchParams finds: %s", expectSameTree);

  it("has them whatever it is", () => {
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
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => expectSameTree(parts.join(""))),
      { numRuns: 2_000 },
    );
  });

  it("has those that came before it before its own", () => {
    for (const text of ["a=2&b=3", "a=2&b=3&c=%"]) {
      const form = readForm(text, new URLSearchParams("a=1"));
      expect([form.child("a")?.text, form.child("b")?.text]).toEqual(["1", "3"]);
    }
  });

  it("has no key that is too deep", () => {
    const at = (text: string) =>
      DEEPEST.split(".").reduce((node, name) => node?.child(name), readForm(text) as FormNode | undefined);
    expect(at(`${DEEPEST}=x`)?.text).toBe("x");
    expect(readForm(`${DEEPEST}.deeper=x&${DEEPEST}.deepest=y`).hasChildren).toBe(false);
    expect(readForm(`${DEEPEST}.deeper=x&a=y`).child("a")?.text).toBe("y");
  });

  it("is looked through once, though it has not a single value", () => {
    expect(readForm("a&".repeat(500_000)).child("a")?.text).toBe("");
    expect(formField("a&".repeat(500_000), "b")).toBeNull();
  });

  it("may have many keys in one place", () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `a.${i + 1}=${i}`);
    const nodes = readForm(keys.toReversed().join("&")).child("a")?.numbered() ?? [];
    expect(nodes.map(({ text }) => text)).toEqual(keys.map((_, i) => `${i}`));
  });
});

it.each(FORMS)("one field of a form is the one that URLSearchParams finds: %s", (text) => {
  for (const name of ["a", "b", "a b", "+", "", "Action", "MessageBody"]) {
    expect(formField(text, name), name).toBe(new URLSearchParams(text).get(name));
  }
});
