/** Operations on the files of a data folder, repairs and reads, while no broker can be asked (`contract.ts`). */
export { deliveriesIn } from "@sluice/broker-worker/deliveries";
export { queuesKeptIn } from "@sluice/broker-worker/kept-queues";
export { recoverDirectory } from "@sluice/broker-worker/recover-directory";
export { shrinkObjectFiles } from "@sluice/objects";
