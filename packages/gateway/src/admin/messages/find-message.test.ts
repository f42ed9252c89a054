import type { LookRequest } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { directoryOf, lookedAt, queueWith } from "../../../test/directory.ts";
import { idBeginning, messageOf, wholeIdOf } from "./find-message.ts";

const [A, B, C] = ["1a2b3c4d0", "1a2b3c4d1", "1a2b3c4e"].map((digits) => digits.padEnd(32, "0")) as [
  string,
  string,
  string,
];

/** A broker whose queue has these messages, one for each look, and whose history names those ids. */
function withMessages(
  there: readonly string[],
  named: readonly string[] = [],
  finished: readonly string[] = [],
) {
  const look = async (_queue: string, { filter = [], only, cursor = "0" }: LookRequest) => {
    const at = Number(cursor);
    const ids = filter.some((term) => term.field === "state") ? finished : there;
    const fits = (id: string) =>
      only?.includes(id) ?? filter.every((term) => term.field !== "id" || id.startsWith(term.prefix));
    const messages = ids
      .slice(at, at + 1)
      .filter(fits)
      .map((id) => lookedAt({ id }));
    const next = at + 1 < ids.length ? `${at + 1}` : null;
    return { messages, matched: messages.length, cursor: next, searched: at, of: ids.length };
  };
  const idsNamed = async (_queue: string, prefix: string) => named.filter((id) => id.startsWith(prefix));
  return { ...directoryOf(), queue: () => queueWith({ look, idsNamed }) };
}

describe("a message by the beginning of its id", () => {
  it("is found where no other one begins so, with hyphens and capitals too", async () => {
    for (const id of ["1a2b3c4e", "1A2B3C4E-0000", C]) {
      expect((await messageOf(withMessages([A, B, C]), "orders", id)).id).toBe(C);
    }
  });

  it("is not found where several begin so, which are named", async () => {
    const refusal = { status: 409, code: "ambiguous_id", details: { ids: [A, B] } };
    await expect(messageOf(withMessages([A, C, B]), "orders", "1a2b3c4d")).rejects.toMatchObject(refusal);
    await expect(messageOf(withMessages([A, C, B]), "orders", "1a2b3c4d")).rejects.toThrow(`${A}, ${B}`);
  });

  it("is found among the finished ones, and not where one in the queue begins so too", async () => {
    expect((await messageOf(withMessages([A], [], [C]), "orders", "1a2b3c4e")).id).toBe(C);
    const refusal = { status: 409, details: { ids: [A, B] } };
    await expect(messageOf(withMessages([A], [], [B]), "orders", "1a2b3c4d")).rejects.toMatchObject(refusal);
    expect(await wholeIdOf(withMessages([A], [], [C]), "orders", "1a2b3c4e")).toBe(C);
  });

  it("is not found where none begins so", async () => {
    const gone = { status: 404, code: "message_not_found" };
    await expect(messageOf(withMessages([A]), "orders", "ffffffff")).rejects.toMatchObject(gone);
  });

  it.each(["1a2b3c4", "89021", "1a2b-3c4", `${A}0`])(
    "is not found by %s, which says what an id is",
    async (id) => {
      const text =
        /has no message ".*" \(any more\)\. The id of a message has 32 hexadecimal digits\. The first 8 are enough/;
      await expect(messageOf(withMessages([A]), "orders", id)).rejects.toThrow(text);
    },
  );
});

describe("the whole id of a message", () => {
  it("is that of a message that is there, or that the history names", async () => {
    expect(await wholeIdOf(withMessages([A, C], [C]), "orders", "1a2b3c4e")).toBe(C);
    expect(await wholeIdOf(withMessages([A], [C]), "orders", "1a2b3c4e")).toBe(C);
    expect(await wholeIdOf(withMessages([]), "orders", A)).toBe(A);
  });

  it("is refused where it is not known, or not the only one", async () => {
    await expect(wholeIdOf(withMessages([A], [B]), "orders", "1a2b3c4d")).rejects.toMatchObject({
      status: 409,
    });
    await expect(wholeIdOf(withMessages([A], [B]), "orders", "ffffffff")).rejects.toMatchObject({
      status: 404,
    });
    await expect(wholeIdOf(withMessages([]), "orders", "1a2b3c4")).rejects.toMatchObject({ status: 400 });
  });
});

it.each([
  ["1a2b3c4", null],
  ["1a2b3c4d", "1a2b3c4d"],
  ["1a2b3c4d5", "1a2b3c4d5"],
  ["0".repeat(31), "0".repeat(31)],
  ["0".repeat(32), "0".repeat(32)],
  ["0".repeat(33), null],
  ["1a2b3c4g", null],
  ["", null],
])("the digits of %j are %j", (text, digits) => {
  expect(idBeginning(text)).toBe(digits);
});
