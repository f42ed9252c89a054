/** The page at `/__sluice/` as an archive. The same for the same sources. */
export function buildPage(): Promise<Uint8Array>;
