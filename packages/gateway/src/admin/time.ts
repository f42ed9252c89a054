/** Writes a moment in ms since 1970 as the admin API shows it: in ISO 8601, in UTC. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
