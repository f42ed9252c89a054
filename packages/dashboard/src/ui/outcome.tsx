import type { Outcome } from "./use-action.ts";

/** Shows the outcome of the last action, and announces it to screen readers. */
export function OutcomeLine({ of }: { readonly of: Outcome }) {
  return (
    <p role="status" class={of.kind === "failed" ? "outcome lost" : "outcome"}>
      {"text" in of ? of.text : ""}
    </p>
  );
}
