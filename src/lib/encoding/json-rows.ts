import { parseExactJson } from './exact-json.ts';

/** An element with more characters is no row. */
const MAX_ROW_CHARACTERS = 20_000;
const MAX_KEY_CHARACTERS = 100;

const isSpace = (character: string) =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';

/** What comes next. */
type State =
  | 'start'
  | 'first element'
  | 'element'
  | 'after element'
  | 'first key'
  | 'key'
  | 'after key'
  | 'value'
  | 'after value'
  | 'first object'
  | 'object'
  | 'after object'
  | 'end';

/** Where a value that is being read is: its depth in brackets, and whether it is in a text. */
type Scan = {
  depth: number;
  isText: boolean;
  isEscaped: boolean;
  isScalar: boolean;
  parts: string[];
  length: number;
};

/** Where the rows are. */
export type JsonRowsOptions = {
  /** The member of an object whose list has the rows. */
  key?: string;
  /** Whether the text is a list of such objects, each of which may be without the member. Otherwise it is one such object, or the list itself. */
  isNested?: boolean;
  /** A member by which an object says that rows are missing: throws an error. */
  refused?: string;
};

/**
 * Reads the elements of a JSON list as they arrive, or those of a list in an object, each parsed by itself: no more than one is in memory. Whole numbers
 * beyond 2^53 are text. Other members of the object are skipped. Throws an error that says what is wrong with the text. `onRow` may throw, too.
 */
export class JsonRows {
  #state: State = 'start';
  #isWithin = false;
  #hasRows = false;
  #key = '';
  #scan: Scan | null = null;
  #rows = 0;
  readonly #onRow: (row: unknown) => void;
  readonly #options: Required<JsonRowsOptions>;

  constructor(
    onRow: (row: unknown) => void,
    { key = 'rows', isNested = false, refused = '' }: JsonRowsOptions = {},
  ) {
    this.#onRow = onRow;
    this.#options = { key, isNested, refused };
  }

  add(text: string): void {
    for (let at = 0; at < text.length; ) {
      at = this.#scan ? this.#continueValue(text, at, this.#scan) : this.#step(text, at);
    }
  }

  /** After the last `add`. */
  end(): void {
    if (this.#state !== 'end') throw new Error('JSON that ends too early');
    if (!this.#hasRows && !this.#options.isNested) throw withoutList();
  }

  #step(text: string, at: number): number {
    const character = text.charAt(at);
    if (isSpace(character)) return at + 1;
    switch (this.#state) {
      case 'start':
        if (this.#options.isNested) return this.#expect(character, '[', 'first object', at);
        if (character === '[') this.#beginList();
        else if (character === '{') this.#state = 'first key';
        else throw withoutList();
        return at + 1;
      case 'first element':
        if (character === ']') return this.#endList(at);
        return this.#beginValue(at, character);
      case 'element':
      case 'value':
        if (this.#state === 'value' && this.#key === this.#options.key) {
          if (character !== '[') throw withoutList();
          this.#isWithin = true;
          this.#beginList();
          return at + 1;
        }
        return this.#beginValue(at, character);
      case 'after element':
        if (character === ']') return this.#endList(at);
        return this.#expect(character, ',', 'element', at);
      case 'first key':
        if (character === '}') return this.#endObject(at);
        return this.#beginKey(at, character);
      case 'key':
        return this.#beginKey(at, character);
      case 'after key':
        return this.#expect(character, ':', 'value', at);
      case 'after value':
        if (character === '}') return this.#endObject(at);
        return this.#expect(character, ',', 'key', at);
      case 'first object':
        if (character === ']') return this.#expect(character, ']', 'end', at);
        return this.#expect(character, '{', 'first key', at);
      case 'object':
        return this.#expect(character, '{', 'first key', at);
      case 'after object':
        if (character === ']') return this.#expect(character, ']', 'end', at);
        return this.#expect(character, ',', 'object', at);
      case 'end':
        throw this.#broken();
    }
  }

  #expect(character: string, expected: string, next: State, at: number): number {
    if (character !== expected) throw this.#broken();
    this.#state = next;
    return at + 1;
  }

  #beginList(): void {
    if (this.#hasRows) throw new Error(`JSON with two lists \`${this.#options.key}\``);
    this.#hasRows = true;
    this.#state = 'first element';
  }

  #endList(at: number): number {
    this.#state = this.#isWithin ? 'after value' : 'end';
    return at + 1;
  }

  #endObject(at: number): number {
    this.#hasRows &&= !this.#options.isNested;
    this.#state = this.#options.isNested ? 'after object' : 'end';
    return at + 1;
  }

  #beginKey(at: number, character: string): number {
    if (character !== '"') throw this.#broken();
    this.#state = 'key';
    return this.#beginValue(at, character);
  }

  #beginValue(at: number, character: string): number {
    if (',:]}'.includes(character)) throw this.#broken();
    if (this.#state === 'first element') this.#state = 'element';
    const isScalar = !'{["'.includes(character);
    this.#scan = { depth: 0, isText: false, isEscaped: false, isScalar, parts: [], length: 0 };
    return at;
  }

  /** Reads on in the value until it ends, and returns where it does. */
  #continueValue(text: string, from: number, scan: Scan): number {
    let at = from;
    let hasEnded = false;
    for (; at < text.length && !hasEnded; at++) {
      const character = text.charAt(at);
      if (scan.isScalar) {
        if (!isSpace(character) && !',]}'.includes(character)) continue;
        hasEnded = true;
        break;
      }
      if (scan.isText) {
        if (scan.isEscaped) scan.isEscaped = false;
        else if (character === '\\') scan.isEscaped = true;
        else if (character === '"') {
          scan.isText = false;
          hasEnded = scan.depth === 0;
        }
      } else if (character === '"') scan.isText = true;
      else if (character === '{' || character === '[') scan.depth++;
      else if (character === '}' || character === ']') hasEnded = --scan.depth === 0;
    }
    this.#keep(scan, text.slice(from, at));
    if (hasEnded) this.#endValue(scan);
    return at;
  }

  #keep(scan: Scan, part: string): void {
    scan.length += part.length;
    const isElement = this.#state === 'element';
    if (isElement && scan.length > MAX_ROW_CHARACTERS) {
      throw new Error(`row ${this.#rows + 1} has more than ${MAX_ROW_CHARACTERS} characters`);
    }
    if (isElement || (this.#state === 'key' && scan.length <= MAX_KEY_CHARACTERS)) scan.parts.push(part);
  }

  #endValue({ parts, length }: Scan): void {
    this.#scan = null;
    if (this.#state === 'value') {
      this.#state = 'after value';
      return;
    }
    const isLongKey = this.#state === 'key' && length > MAX_KEY_CHARACTERS;
    const value = isLongKey ? '' : this.#parse(parts.join(''));
    if (this.#state === 'key') {
      this.#key = String(value);
      if (this.#options.refused !== '' && this.#key === this.#options.refused) {
        throw new Error(`JSON with \`${this.#key}\` after row ${this.#rows}`);
      }
      this.#state = 'after key';
      return;
    }
    this.#state = 'after element';
    this.#rows++;
    this.#onRow(value);
  }

  #parse(text: string): unknown {
    try {
      return parseExactJson(text);
    } catch {
      throw this.#broken();
    }
  }

  #broken = () => new Error(`JSON that cannot be read from row ${this.#rows + 1} on`);
}

const withoutList = () => new Error('JSON without a list of rows');
