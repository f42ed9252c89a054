import type { Outcome } from "./use-action.ts";

/** What came of the last thing that was done, said to those who cannot see it too. */
export function OutcomeLine({ of }: { readonly of: Outcome }) {
  return (
    <p role="status" class={of.kind === "failed" ? "outcome lost" : "outcome"}>
      {"text" in of ? of.text : ""}
    </p>
  );
}
