import { expect, it } from "vitest";
import { notPrintedYet } from "./read-worker.ts";

it("a warning of Wrangler's is not repeated, wherever its lines are broken", () => {
  const warning = (text: string) => ({ severity: "warning", file: "/w/wrangler.toml", text }) as const;
  const known = warning('The "delivery_delay" field is deprecated and has no effect.');
  const own = warning("Sluice applies it.");
  const printed =
    '\u001b[33m▲ [WARNING]\u001b[39m\n    - The "delivery_delay" field is\n  deprecated and has no effect.\n';
  expect(notPrintedYet([known, own], printed)).toEqual([own]);
});
