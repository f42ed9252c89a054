import { expect, it } from "vitest";
import { textsOf } from "./protocols.ts";

it("reads the texts of all elements of a name, with entities of every form", () => {
  const xml =
    "<Message><Body>{&quot;a&quot;:1}</Body></Message><Message><Body>&#x41;&#10;&amp;lt;</Body></Message>";
  expect(textsOf(xml, "Body")).toEqual(['{"a":1}', "A\n&lt;"]);
  expect(textsOf(xml, "ReceiptHandle")).toEqual([]);
});
