// Categories of Unicode: control characters (C0 with line breaks and tabs, DEL, C1), and the separators of lines and paragraphs.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const CONTROLS = new RegExp(`${CONTROL.source}+`, 'gu');

export const CONTROL_FAULT = 'must not contain line breaks or control characters';

/** Whether a text has line breaks, tabs or other characters that are not shown but change how what surrounds them is read. */
export const hasControlCharacters = (text: string): boolean => CONTROL.test(text);

/** The text in one line, with a space in place of control characters. */
export const toOneLine = (text: string): string => text.replace(CONTROLS, ' ');
