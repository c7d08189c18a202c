// What Worker modules may use of Node, with the compatibility flag `nodejs_compat`. It takes the place of @types/node in `src`, so that
// a Node global or any other Node module there is a compile error, even where a dependency refers to Node's types.

declare module 'node:buffer' {
  export class Buffer extends Uint8Array<ArrayBuffer> {
    static from(bytes: Uint8Array): Buffer;
    static from(text: string, encoding: 'base64' | 'base64url'): Buffer;
    static from(bytes: ArrayBufferLike, byteOffset: number, length: number): Buffer;
    compare(
      target: Uint8Array,
      targetStart: number,
      targetEnd: number,
      sourceStart: number,
      sourceEnd: number,
    ): -1 | 0 | 1;
    override toString(encoding?: 'base64' | 'base64url'): string;
    override subarray(start: number, end: number): Buffer;
  }
}

declare module 'node:zlib' {
  import type { Buffer } from 'node:buffer';
  export function gzipSync(bytes: Uint8Array, options?: { level: number }): Uint8Array;
  export function gunzipSync(bytes: Uint8Array, options?: { maxOutputLength?: number }): Uint8Array;
  export function deflateRawSync(text: string, options: { level: number }): Buffer;
  export function inflateRawSync(bytes: Uint8Array): Buffer;
}

declare module 'node:module' {
  export function createRequire(path: string): (name: 'node:zlib') => typeof import('node:zlib');
}

declare module 'node:crypto' {
  import type { Buffer } from 'node:buffer';
  export interface KeyObject {
    export(options: { type: 'spki'; format: 'der' }): Buffer;
  }
  export class X509Certificate {
    constructor(der: Uint8Array);
    readonly ca: boolean;
    readonly publicKey: KeyObject;
    readonly raw: Buffer;
    readonly validFrom: string;
    readonly validTo: string;
    checkIssued(issuer: X509Certificate): boolean;
    verify(publicKey: KeyObject): boolean;
  }
}
