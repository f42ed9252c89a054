import { createQueueConsumer } from "@sluice/consumer";
import ordinary from "./ordinary/consumer.ts";

export const SluiceQueueConsumer = createQueueConsumer(ordinary, { waitForWaitUntil: true });
export default ordinary;
