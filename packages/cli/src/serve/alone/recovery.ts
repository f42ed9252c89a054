/** Makes the directory of a data folder usable (`contract.ts`). */
export { recoverDirectory } from "@sluice/broker-worker/recovery";
