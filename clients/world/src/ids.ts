// Ids. A run's event number n of the time t has the id evnt_ULID, whose time is t and whose random part is taken from the run's id and n: so the id tells
// the number, and nothing has to be stored for it.

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const digits = (value: number, length: number): string => {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = DIGITS.charAt(rest % 32) + text;
  return text;
};

const numberOf = (text: string): number => {
  let value = 0;
  for (const c of text) {
    const digit = DIGITS.indexOf(c.toUpperCase());
    if (digit < 0) return Number.NaN;
    value = value * 32 + digit;
  }
  return value;
};

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** Milliseconds of the ULID behind the last underscore, or NaN. */
export const timeOf = (id: string): number => {
  const ulid = id.slice(id.lastIndexOf("_") + 1);
  return ULID.test(ulid) ? numberOf(ulid.slice(0, 10)) : Number.NaN;
};

export const ulid = (now: number): string => {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return digits(now, 10) + Array.from(random, (byte) => DIGITS.charAt(byte % 32)).join("");
};

const NUMBER = 4;

export const eventId = (runId: string, time: number, n: number): string =>
  `evnt_${digits(time, 10)}${runId
    .slice(-16, -NUMBER)
    .toUpperCase()
    .padStart(16 - NUMBER, "0")}${digits(n, NUMBER)}`;

/** The number of an event, NaN if the text is no event's id. */
export const eventNumber = (id: string): number => (/^evnt_[0-9A-Z]{26}$/.test(id) ? numberOf(id.slice(-NUMBER)) : Number.NaN);
