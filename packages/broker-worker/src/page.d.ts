declare module "sluice:page" {
  /** Archive of the page at `/__sluice/`. */
  const page: Uint8Array;
  export default page;
}
