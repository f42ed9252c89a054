import { beforeEach, describe, expect, it } from "vitest";
import { Ledger, type Sent } from "./ledger.ts";

interface Counted extends Sent {
  times: number;
}

/** A ledger of messages that a consumer is done with when they have come. */
class CountingLedger extends Ledger<Counted> {
  intend(bytes = 20) {
    return this.add({ tag: this.messages.length, queue: "q", bytes, outcome: "unknown", times: 0 });
  }

  came(body: string): void {
    const message = this.identify("q", body);
    if (message !== null) {
      this.change(message, () => {
        message.times += 1;
      });
    }
  }

  summary() {
    return this.tally();
  }

  protected override isDone({ times }: Counted): boolean {
    return times > 0;
  }

  protected override hasCome(message: Counted): boolean {
    return this.isDone(message);
  }
}

let ledger: CountingLedger;
beforeEach(() => {
  ledger = new CountingLedger();
});

describe("a message", () => {
  it("is owed from its acknowledgement until a consumer is done with it", () => {
    const { message, body } = ledger.intend();
    expect(ledger.owed).toBe(0);
    ledger.acknowledged(message);
    expect([ledger.owed, ledger.summary().lost]).toEqual([1, 1]);
    ledger.came(body);
    ledger.came(body);
    expect([ledger.owed, ledger.summary().lost]).toEqual([0, 0]);
  });

  it("is not owed if its send was refused or not answered", () => {
    ledger.refused(ledger.intend().message);
    const { body } = ledger.intend();
    ledger.intend();
    ledger.came(body);
    expect(ledger.summary()).toEqual({
      sent: 3,
      acknowledged: 0,
      refused: 1,
      unanswered: 2,
      unansweredButStored: 1,
      lost: 0,
      violations: 0,
      violationTexts: [],
    });
  });

  it("is known by its whole body", () => {
    const { body } = ledger.intend(50);
    for (const damaged of ["7:abc", "abc", "", `${body.slice(0, -1)}!`, `${body}!`]) ledger.came(damaged);
    expect(ledger.violations).toBe(5);
    expect(ledger.violationTexts[0]).toBe('queue "q" delivered a body that was never sent: 7:abc');
  });
});

it("keeps the texts of 20 violations, and counts all", () => {
  for (const n of Array.from({ length: 21 }).keys()) ledger.violation(`${n}`);
  expect([ledger.violations, ledger.violationTexts.length]).toEqual([21, 20]);
});
