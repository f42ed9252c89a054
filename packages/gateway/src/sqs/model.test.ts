import type { Shape } from "@sluice/aws";
import { describe, expect, it } from "vitest";
import { SQS_ACTIONS } from "./model.ts";

/** Names of the members that are tokens, in a shape and all that it is made of. */
function tokensOf(shape: Shape): string[] {
  if (shape.type === "list") return tokensOf(shape.member);
  if (shape.type === "map") return tokensOf(shape.value);
  if (shape.type !== "structure") return [];
  return Object.entries(shape.members).flatMap(([name, member]) =>
    member.type === "string" && member.isToken ? [name] : tokensOf(member),
  );
}

describe("what is written without being escaped", () => {
  it("is made by us, or was checked to hold letters, digits, hyphens and underscores alone", () => {
    const names = Object.values(SQS_ACTIONS).flatMap(({ output }) =>
      output === null ? [] : tokensOf(output),
    );
    expect(new Set(names)).toEqual(
      new Set([
        // Of the entries of a batch: `checkEntries`.
        "Id",
        "Code",
        "MessageId",
        "ReceiptHandle",
        "SequenceNumber",
        ...["MD5OfBody", "MD5OfMessageBody", "MD5OfMessageAttributes", "MD5OfMessageSystemAttributes"],
      ]),
    );
  });
});
