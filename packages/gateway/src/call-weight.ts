/** Weight that one shared call takes along, about bytes; the next one takes the rest. */
export const CALL_WEIGHT_MAX = 2_000_000;
