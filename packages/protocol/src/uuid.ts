/** How the 16 bytes of an id are written as a UUID: two digits for each, with hyphens between some. */
export const UUID_LENGTH = 36;
export const HYPHEN = 0x2d;
/** Where the first digit of each byte stands. */
export const UUID_PLACES: readonly number[] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
