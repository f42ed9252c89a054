import type { HttpPushFormat } from "@sluice/protocol";
import type { EndpointFormat } from "../endpoint.ts";
import { sluiceFormat } from "./sluice.ts";
import { snsFormat } from "./sns.ts";

const FORMATS: Readonly<Partial<Record<HttpPushFormat, EndpointFormat>>> = {
  sluice: sluiceFormat,
  sns: snsFormat,
};

/** How requests of a format are made; `null` for one that this broker cannot make: messages wait. */
export function formatOf(format: HttpPushFormat): EndpointFormat | null {
  return FORMATS[format] ?? null;
}
