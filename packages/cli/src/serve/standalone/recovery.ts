/** What is done to the files of a data folder, and read from them, while nobody can be asked (`contract.ts`). */
export { deliveriesIn } from "@sluice/broker-worker/deliveries";
export { recoverDirectory } from "@sluice/broker-worker/recovery";
export { shrinkObjectFiles } from "@sluice/objects";
