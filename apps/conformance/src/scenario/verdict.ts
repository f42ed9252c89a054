import { type Verdict, YES } from "./row.ts";
import type { Scenario } from "./scenario.ts";

/** What an observation says about a system. */
export function verdictOf(scenario: Pick<Scenario, "expected">, observed: string | null): Verdict {
  if (observed === scenario.expected) return YES;
  return observed === null ? { kind: "no", observed: "" } : { kind: "differs", observed };
}
