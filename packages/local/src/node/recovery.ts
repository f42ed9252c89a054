/** Repairs and reads of a data folder's files, without a running broker (`contract.ts`). */
export { deliveriesIn } from "@sluice/broker-worker/deliveries";
export { queuesKeptIn } from "@sluice/broker-worker/kept-queues";
export { recoverDirectory } from "@sluice/broker-worker/recover-directory";
export { shrinkObjectFiles } from "@sluice/objects";
