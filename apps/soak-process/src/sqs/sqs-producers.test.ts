import getPort from "@sluice/protocol/test/free-port";
import { expect, it } from "vitest";
import { SqsRefusal, sqs } from "./client.ts";
import { ReceiveLedger } from "./receive-ledger.ts";
import { attempt } from "./sqs-producers.ts";

it("a client ends without a violation where the broker does not answer", async () => {
  const ledger = new ReceiveLedger();
  const endpoint = `http://127.0.0.1:${await getPort()}/`;
  const outcome = await attempt(ledger, async () => {
    await sqs(endpoint, "DeleteMessage", {});
  });
  expect(outcome).toBe("gone");
  expect(ledger.violationTexts).toEqual([]);
});

it("a client goes on after a refusal", async () => {
  const ledger = new ReceiveLedger();
  const outcome = await attempt(ledger, async () => {
    throw new SqsRefusal("ServiceUnavailable", 503, "later");
  });
  expect(outcome).toBe("answered");
  expect([...ledger.refusals]).toEqual(["503 ServiceUnavailable: later"]);
  expect(ledger.violations).toBe(0);
});

it("an error of the client itself is a violation", async () => {
  const ledger = new ReceiveLedger();
  await attempt(ledger, async () => {
    throw new TypeError("Cannot read properties of undefined");
  });
  expect(ledger.violationTexts).toEqual([expect.stringContaining("Cannot read properties of undefined")]);
});
