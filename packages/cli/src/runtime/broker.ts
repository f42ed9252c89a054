/** Module that the generated entry of the broker imports. */
export { defineBroker } from "@sluice/broker-worker";
