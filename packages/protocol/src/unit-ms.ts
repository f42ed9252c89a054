/** Units in which people write durations (`90s`, `1h30m`), in ms. */
export const UNIT_MS: Readonly<Record<string, number | undefined>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
