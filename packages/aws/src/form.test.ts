import { expect, it } from "vitest";
import { formField, readForm } from "./form.ts";

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
];

it.each(FORMS)("a form has the fields that URLSearchParams finds: %s", (text) => {
  expect(readForm(text)).toEqual([...new URLSearchParams(text)]);
});

it.each(FORMS)("one field of a form is the one that URLSearchParams finds: %s", (text) => {
  for (const name of ["a", "b", "a b", "+", "", "Action", "MessageBody"]) {
    expect(formField(text, name), name).toBe(new URLSearchParams(text).get(name));
  }
});

it("a long form without a single value is looked through once", () => {
  expect(formField("a&".repeat(500_000), "b")).toBeNull();
});
