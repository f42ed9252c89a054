import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { brokerFailure } from "./broker-failure.ts";

const printed: string[] = [];

beforeEach(() => {
  printed.length = 0;
  vi.spyOn(console, "error").mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => vi.restoreAllMocks());

it("a failure that is not the client's is ServiceUnavailable where there is no room to write to, which SDKs try again", () => {
  const { kind, message } = brokerFailure("SQS", "r-1", new Error("database or disk is full: SQLITE_FULL"));
  expect(kind).toMatchObject({ code: "ServiceUnavailable", status: 503, fault: "Receiver" });
  expect(message).toBe("Queue storage limit exceeded: its disk or its database is full.");
  expect(printed).toEqual(["SQS request r-1 failed: the disk or the database of its queue is full"]);
});

it("a failure that is not the client's is InternalFailure otherwise, and what it was stays in the log", () => {
  const { kind, message } = brokerFailure("SNS", "r-2", new Error("secret"));
  expect(kind).toMatchObject({ code: "InternalFailure", status: 500, fault: "Receiver" });
  expect(message).toBe("The broker failed; its log says why.");
  expect(printed).toHaveLength(1);
  expect(printed[0]).toContain("SNS request r-2 failed: Error: secret");
});
