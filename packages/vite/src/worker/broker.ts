/** What the generated entry of the broker imports. */
export { defineBroker } from "sluice/runtime/broker";
