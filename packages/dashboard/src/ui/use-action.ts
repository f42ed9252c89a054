import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { errorText } from "../api/call.ts";

/** Outcome of the last action, with a text for people once it has ended. */
export type Outcome =
  | { readonly kind: "none" | "busy" }
  | { readonly kind: "done" | "failed"; readonly text: ComponentChildren };

/** Runs actions, and remembers the outcome of the last one in words. */
export function useAction(then: () => void): {
  readonly outcome: Outcome;
  readonly isBusy: boolean;
  /**
   * Does nothing while another action runs. Its buttons stay enabled meanwhile, or they would lose the focus.
   *
   * @param act the action, which resolves to a text about its success.
   * @returns whether it has succeeded.
   */
  readonly run: (act: () => Promise<ComponentChildren>) => Promise<boolean>;
} {
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const run = async (act: () => Promise<ComponentChildren>) => {
    if (outcome.kind === "busy") return false;
    setOutcome({ kind: "busy" });
    try {
      setOutcome({ kind: "done", text: await act() });
      return true;
    } catch (error) {
      setOutcome({ kind: "failed", text: errorText(error) });
      return false;
    } finally {
      then();
    }
  };
  return { outcome, isBusy: outcome.kind === "busy", run };
}
