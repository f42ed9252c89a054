import type { HttpPushFormat } from "@sluice/protocol";
import type { EndpointFormat } from "../endpoint.ts";
import { sluiceFormat } from "./sluice.ts";
import { snsFormat } from "./sns.ts";

const FORMATS: Readonly<Partial<Record<HttpPushFormat, EndpointFormat>>> = {
  sluice: sluiceFormat,
  sns: snsFormat,
};

/** Returns the format of a name; `null` for one that this broker does not know, whose messages wait. */
export function formatOf(format: HttpPushFormat): EndpointFormat | null {
  return FORMATS[format] ?? null;
}
