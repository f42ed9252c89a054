import { expect, it } from "vitest";
import { uuidOf } from "./ids-and-tags.ts";

it("an id of the store is shown as a UUID", () => {
  expect(uuidOf("0123456789abcdef0123456789abcdef")).toBe("01234567-89ab-cdef-0123-456789abcdef");
});
