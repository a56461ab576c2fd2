import { Buffer } from 'node:buffer';
import type { Statement } from './client.ts';

/** Messages of the protocol, version 3, by their first byte. */
const PARSE = 0x50;
const BIND = 0x42;
const EXECUTE = 0x45;
const CLOSE = 0x43;
const SYNC = 0x53;
const A_STATEMENT = 0x53;

/** Formats of a value. */
const BINARY = 1;
const NULL_LENGTH = -1;
/** A UTF-16 unit takes at most this many bytes of UTF-8. */
const MOST_BYTES = 3;

/** Writes statements as one run of bytes with a single Sync: the first that fails skips the rest. */
export class Frames {
  #bytes = Buffer.allocUnsafe(4_096);
  #at = 0;
  /** Of the message that is being written: where its length stands. */
  #start = 0;

  /** @param known - Names that the connection has prepared. */
  of(statements: readonly Statement[], known: ReadonlySet<string>): Buffer {
    this.#at = 0;
    for (const { text, name = '', values = NONE } of statements) {
      if (name === '' || !known.has(name)) this.#parse(name, text);
      this.#bind(name, values);
      this.#message(EXECUTE);
      this.#text(''); // the unnamed portal
      this.#int32(0); // all rows
      this.#end();
    }
    this.#message(SYNC);
    this.#end();
    // A copy: the socket may hold it while the next ones are written.
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  #parse(name: string, text: string): void {
    if (name !== '') {
      // Whether it was prepared by a batch that failed is not known; what does not exist may be closed.
      this.#message(CLOSE);
      this.#byte(A_STATEMENT);
      this.#text(name);
      this.#end();
    }
    this.#message(PARSE);
    this.#text(name);
    this.#text(text);
    this.#int16(0); // no types: the casts in the text tell them
    this.#end();
  }

  #bind(name: string, values: readonly unknown[]): void {
    this.#message(BIND);
    this.#text('');
    this.#text(name);
    this.#int16(values.length);
    for (const value of values) this.#int16(value instanceof Uint8Array ? BINARY : 0);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    this.#int16(0); // answers as text
    this.#end();
  }

  #value(value: unknown): void {
    if (value === null || value === undefined) this.#int32(NULL_LENGTH);
    else if (value instanceof Uint8Array) this.#blob(value);
    else {
      const lengthAt = this.#at;
      this.#int32(0);
      this.#write(typeof value === 'string' ? value : toText(value));
      this.#bytes.writeInt32BE(this.#at - lengthAt - 4, lengthAt);
    }
  }

  #blob(value: Uint8Array): void {
    this.#int32(value.byteLength);
    this.#room(value.byteLength);
    this.#bytes.set(value, this.#at);
    this.#at += value.byteLength;
  }

  #message(type: number): void {
    this.#byte(type);
    this.#start = this.#at;
    this.#int32(0);
  }

  /** The length of a message counts itself, but not its first byte. */
  #end(): void {
    this.#bytes.writeInt32BE(this.#at - this.#start, this.#start);
  }

  #text(text: string): void {
    if (text !== '') this.#write(text);
    this.#byte(0);
  }

  #write(text: string): void {
    this.#room(text.length * MOST_BYTES);
    this.#at += this.#bytes.write(text, this.#at);
  }

  #byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  #int16(value: number): void {
    this.#room(2);
    this.#at = this.#bytes.writeUInt16BE(value, this.#at);
  }

  #int32(value: number): void {
    this.#room(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#at + bytes, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

const NONE: readonly unknown[] = [];

/** Numbers, booleans and arrays of them or of texts as PostgreSQL reads them. */
function toText(value: unknown): string {
  return Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value);
}

function element(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return `"${String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
