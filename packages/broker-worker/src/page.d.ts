declare module "sluice:page" {
  /** The page at `/__sluice/` as an archive. */
  const page: Uint8Array;
  export default page;
}
