import { TOKEN_LENGTH } from "@sluice/protocol";
import { expect, it } from "vitest";
import { decodeToken, encodeToken } from "./message-token.ts";

const RECEIPT = { leaseId: 3 * 2 ** 32 + 7, segmentId: 2 ** 52 - 1, index: 4_000_000_000 };

it.each(["lease", "ref"] as const)(
  "a token of a message a token of kind %s is read back as it was written",
  (kind) => {
    const token = encodeToken("orders", kind, RECEIPT);
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(token).toHaveLength(TOKEN_LENGTH);
    expect(decodeToken("orders", kind, token)).toEqual(RECEIPT);
  },
);

it("a token of a message is read back whatever it says", () => {
  for (let i = 0; i < 1_000; i++) {
    const [leaseId, segmentId] = [2 ** 43 + 4_099 * i, 2 ** (i % 53) - 1];
    const receipt = { leaseId, segmentId, index: Math.imul(i, 0x9e3779b1) >>> 0 };
    expect(decodeToken("orders", "lease", encodeToken("orders", "lease", receipt))).toEqual(receipt);
  }
});

it("a token of a message is what tokens were in every release: clients hold them over deployments", () => {
  expect(encodeToken("orders", "lease", RECEIPT)).toBe("AUIIAAAAOAAAQy________7uaygAB4A8tQ");
});

it("a token of a message is none on another queue, nor for another purpose", () => {
  const token = encodeToken("orders", "lease", RECEIPT);
  expect(decodeToken("order", "lease", token)).toBeNull();
  expect(decodeToken("orders2", "lease", token)).toBeNull();
  expect(decodeToken("orders", "ref", token)).toBeNull();
});

it("a token of a message is none any more when a character of it is another", () => {
  const token = encodeToken("orders", "lease", RECEIPT);
  for (let i = 0; i < token.length - 1; i++) {
    const other = token[i] === "A" ? "B" : "A";
    expect(decodeToken("orders", "lease", token.slice(0, i) + other + token.slice(i + 1))).toBeNull();
  }
});

it("a token of a message is none any more when a character of it stands for nothing", () => {
  const token = encodeToken("orders", "lease", RECEIPT);
  for (let i = 0; i < token.length; i++) {
    for (const other of ["=", "+", "/", "\0", "\u00e4", "\u0141", "\u{1f600}"]) {
      expect(decodeToken("orders", "lease", token.slice(0, i) + other + token.slice(i + 1))).toBeNull();
    }
  }
});

it.each(["", "A".repeat(TOKEN_LENGTH), "A".repeat(TOKEN_LENGTH - 1), "ä".repeat(TOKEN_LENGTH), "__proto__"])(
  "a token of a message a token is not %j",
  (text) => {
    expect(decodeToken("orders", "lease", text)).toBeNull();
  },
);
