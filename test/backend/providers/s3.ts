import {
  type ProviderReply,
  type ProviderRequest,
  ProviderServer,
} from '../../support/providers/http-server.ts';

/** One S3 bucket on the loopback, addressed by path: GetObject, DeleteObject and ListObjectsV2 (two keys a page). */
export class LocalBucket {
  readonly server = new ProviderServer((request) => this.#handle(request));
  /** Objects that were read, in order, verbatim. */
  readonly read: Buffer[] = [];
  readonly #objects = new Map<string, Buffer>();
  readonly #name: string;
  readonly #region: string;

  constructor(name: string, region: string) {
    this.#name = name;
    this.#region = region;
  }

  put(key: string, body: string): void {
    this.#objects.set(key, Buffer.from(body));
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  #handle(request: ProviderRequest): ProviderReply {
    const scope = new RegExp(`^AWS4-HMAC-SHA256 Credential=\\S+/\\d{8}/${this.#region}/s3/aws4_request,`);
    if (!scope.test(request.headers.authorization ?? ''))
      return s3Error(403, 'AccessDenied', 'Access Denied');
    const [, bucket, ...rest] = request.path.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    if (bucket !== this.#name) return s3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
    if (request.method === 'GET' && key === '') return this.#list(request.query);
    if (request.method === 'DELETE') {
      this.#objects.delete(key);
      return { status: 204 };
    }
    const body = this.#objects.get(key);
    if (body === undefined) return s3Error(404, 'NoSuchKey', 'The specified key does not exist.');
    this.read.push(body);
    return { body, headers: { etag: '"0"', 'last-modified': 'Sat, 21 Nov 2026 08:00:00 GMT' } };
  }

  #list(query: URLSearchParams): ProviderReply {
    const keys = this.keys()
      .filter((key) => key.startsWith(query.get('prefix') ?? ''))
      .sort();
    const page = keys.slice(0, 2);
    const more = keys.length > page.length ? '<NextContinuationToken>next</NextContinuationToken>' : '';
    const contents = page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
    const isTruncated = `<IsTruncated>${more !== ''}</IsTruncated>`;
    return xml(200, `<ListBucketResult>${isTruncated}${contents}${more}</ListBucketResult>`);
  }
}

/** An error as S3 answers with one (REST XML). */
export function s3Error(status: number, code: string, message: string): ProviderReply {
  return xml(status, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

function xml(status: number, body: string): ProviderReply {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
  };
}
