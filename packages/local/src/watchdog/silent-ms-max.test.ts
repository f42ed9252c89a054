import { expect, it } from "vitest";
import { silentMsMaxOf } from "./silent-ms-max.ts";

const worker = (config: object) => ({ files: { "wrangler.json": JSON.stringify(config) } });

it.each([
  [[], 10_000],
  [[{}], 10_000],
  [[{ limits: { cpu_ms: 50 } }], 50],
  [[{ limits: { cpu_ms: 50 } }, {}], 10_000],
  [[{ limits: { cpu_ms: 50 } }, { limits: { cpu_ms: 30_000 } }], 30_000],
])("Workers with the configurations %j may be silent for %i ms", (configs, limitMs) => {
  expect(silentMsMaxOf(configs.map(worker))).toBe(limitMs);
});
